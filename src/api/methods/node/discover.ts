import { encodeJson } from "../../../json/encode.ts";
import { VERSION } from "../../../runtime/version.ts";
import { defineMethod, type MethodDefinition } from "../../definition.ts";
import { type MethodGroup, openRpcDocument } from "../../openrpc.ts";
import { object, text } from "../../schemas.ts";

/** The method that describes all methods, itself among them; `groups` is asked when the first call comes. */
export function discoverMethod(groups: () => readonly MethodGroup[]): MethodDefinition {
  const describeAll = () => openRpcDocument(groups(), VERSION);
  let body: Buffer | undefined;
  return {
    ...defineMethod({
      name: "rpc.discover",
      summary: "Every method, its parameters and its result, as an OpenRPC document.",
      result: { name: "openrpc_document", schema: object({ openrpc: text, info: { type: "object" } }) },
      failures: [],
      cost: "cheap",
      access: "read",
      dependsOn: "nothing",
      example: {},
      handler: describeAll,
    }),
    // The document never changes, so that its bytes are kept.
    async json() {
      body ??= encodeJson(describeAll());
      return { body };
    },
  };
}
