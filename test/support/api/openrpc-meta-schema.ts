import { createRequire } from "node:module";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

const DRAFT_07 = "http://json-schema.org/draft-07/schema";
/** Where the OpenRPC meta-schema looks for the meta-schema of JSON Schema: a copy of the one of draft 7. */
const COPY_OF_DRAFT_07 = "https://meta.json-schema.tools/";

/** The OpenRPC meta-schema, ready to check documents. The standard meta-schema of draft 7 stands in for its copy. */
export function openRpcValidator(): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({
    $id: COPY_OF_DRAFT_07,
    allOf: [{ $ref: DRAFT_07 }],
    definitions: { JSONSchemaObject: { properties: { $ref: { type: "string", format: "uri-reference" } } } },
  });
  // The package declares the types of documents only, not the schema that it exports.
  const { openrpcDocument } = createRequire(import.meta.url)("@open-rpc/meta-schema") as { openrpcDocument: object };
  const { $schema: _copy, ...metaSchema } = JSON.parse(
    JSON.stringify(openrpcDocument).replaceAll('"https://meta.json-schema.tools"', JSON.stringify(COPY_OF_DRAFT_07)),
  );
  return ajv.compile(metaSchema);
}
