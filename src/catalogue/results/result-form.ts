import type { JsonSchema } from "./json-schema.ts";

export interface ResultForm {
  /** A name for what comes back, as OpenRPC wants one. */
  name: string;
  schema: JsonSchema;
}
