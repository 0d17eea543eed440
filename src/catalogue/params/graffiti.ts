import { parseGraffiti } from "../../chain/graffiti.ts";
import { paramSchema } from "./schema.ts";

export const GRAFFITI_FORM =
  "graffiti of at most 32 bytes: text, which is taken as UTF-8, or 0x followed by an even number of hex digits";

export function graffitiFrom(value: unknown): Uint8Array | undefined {
  return typeof value === "string" ? parseGraffiti(value) : undefined;
}

/** Text or hex of at most 32 bytes, filled up with zero bytes on the right. */
export const graffiti = paramSchema(GRAFFITI_FORM, { type: "string" }, graffitiFrom);
