import { type ParamSchema, paramSchema } from "./schema.ts";

/** Free text whose grammar is the handler's business; `noun` says what it is. */
export function text(noun: string): ParamSchema<string> {
  return paramSchema(`${noun}, written as a string`, { type: "string" }, (value) =>
    typeof value === "string" ? value : undefined,
  );
}
