import { encodeJson } from "../../../json/encode.ts";
import { VERSION } from "../../../runtime/version.ts";
import { defineMethod, type MethodDefinition } from "../../definition.ts";
import { loadRecordedCalls, type MethodGroup, openRpcDocument } from "../../openrpc.ts";
import { object, text } from "../../schemas.ts";

/** Creates a method that describes all methods, including itself. `groups` is evaluated on the first call. */
export function discoverMethod(groups: () => readonly MethodGroup[]): MethodDefinition {
  const createDocument = async () => openRpcDocument(groups(), VERSION, await loadRecordedCalls());
  let body: Buffer | undefined;
  return {
    ...defineMethod({
      name: "rpc.discover",
      summary: "OpenRPC document of all methods.",
      result: { name: "openrpc_document", schema: object({ openrpc: text, info: { type: "object" } }) },
      failures: [],
      cost: "cheap",
      access: "read",
      dependsOn: "nothing",
      example: {},
      handler: createDocument,
    }),
    // Cached, because the document never changes.
    async json() {
      body ??= encodeJson(await createDocument());
      return { body };
    },
  };
}
