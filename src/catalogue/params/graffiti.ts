import { paramSchema } from "./schema.ts";

const GRAFFITI_BYTES = 32;
export const GRAFFITI_FORM =
  "graffiti of at most 32 bytes: text, which is taken as UTF-8, or 0x followed by an even number of hex digits";
const HEX_FORM = /^0x(?:[0-9a-fA-F]{2})*$/;

export function parseGraffiti(value: unknown): Uint8Array | undefined {
  // No text of 32 bytes and no hex of 32 bytes is longer than this; what is longer need not be encoded to be refused.
  if (typeof value !== "string" || value.length > 2 + 2 * GRAFFITI_BYTES) return undefined;
  const isHex = value.startsWith("0x");
  if (isHex && !HEX_FORM.test(value)) return undefined;
  const bytes = isHex ? Buffer.from(value.slice(2), "hex") : Buffer.from(value, "utf8");
  if (bytes.length > GRAFFITI_BYTES) return undefined;
  const graffiti = new Uint8Array(GRAFFITI_BYTES);
  graffiti.set(bytes);
  return graffiti;
}

/** Text or hex of at most 32 bytes, filled up with zero bytes on the right. */
export const graffiti = paramSchema(GRAFFITI_FORM, { type: "string" }, parseGraffiti);
