import { createRequire } from "node:module";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

const DRAFT_07 = "http://json-schema.org/draft-07/schema";
/** URL of the draft 7 meta-schema that the OpenRPC meta-schema refers to. */
const COPY_OF_DRAFT_07 = "https://meta.json-schema.tools/";

/** Compiles the OpenRPC meta-schema, with the standard draft 7 meta-schema under its URL. */
export function openRpcValidator(): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({
    $id: COPY_OF_DRAFT_07,
    allOf: [{ $ref: DRAFT_07 }],
    definitions: { JSONSchemaObject: { properties: { $ref: { type: "string", format: "uri-reference" } } } },
  });
  // The package types only documents, not the exported schema.
  const { openrpcDocument } = createRequire(import.meta.url)("@open-rpc/meta-schema") as { openrpcDocument: object };
  const { $schema: _copy, ...metaSchema } = JSON.parse(
    JSON.stringify(openrpcDocument).replaceAll('"https://meta.json-schema.tools"', JSON.stringify(COPY_OF_DRAFT_07)),
  );
  return ajv.compile(metaSchema);
}
