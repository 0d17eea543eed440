import packageJson from "../../package.json" with { type: "json" };
import { encodeJson } from "../json/encode.ts";
import { defineEntry, type Entry } from "./entry.ts";
import type { Family } from "./family.ts";
import { openRpcDocument } from "./openrpc.ts";

/** The method that describes all methods, itself among them; `families` is asked when the first call comes. */
export function discoverEntry(families: () => readonly Family[]): Entry {
  let document: Buffer | undefined;
  return defineEntry({
    number: null,
    name: "rpc.discover",
    summary: "Every method, its parameters and its result, as an OpenRPC document.",
    invoke: async () => {
      document ??= encodeJson(openRpcDocument(families(), packageJson.version));
      return { body: document };
    },
  });
}
