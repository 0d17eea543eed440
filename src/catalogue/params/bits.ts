import { fromHex } from "@lodestar/utils";
import { parseFixedHex } from "./bytes.ts";
import { type ParamSchema, paramSchema } from "./schema.ts";

export function bitListForm(maxBits: number): string {
  return `a bit list of at most ${maxBits} bits: 0x followed by an even number of hex digits, the last byte not zero`;
}

export function bitVectorForm(bitCount: number): string {
  return `a bit vector of ${bitCount} bits: 0x followed by ${2 * Math.ceil(bitCount / 8)} hex digits, unused high bits zero`;
}

/** A bit list in its SSZ form, whose last byte holds the delimiter bit (ssz/simple-serialize.md, Bitlist). */
export function parseBitList(value: unknown, maxBits: number): Uint8Array | undefined {
  if (typeof value !== "string" || value.length > 2 + 2 * (Math.floor(maxBits / 8) + 1)) return undefined;
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(value)) return undefined;
  const bytes = fromHex(value);
  const last = bytes.at(-1)!;
  const bitCount = 8 * (bytes.length - 1) + (31 - Math.clz32(last));
  return last !== 0 && bitCount <= maxBits ? bytes : undefined;
}

/** A bit vector in its SSZ form: the bits beyond its length are zero (ssz/simple-serialize.md, Bitvector). */
export function parseBitVector(value: unknown, bitCount: number): Uint8Array | undefined {
  const byteLength = Math.ceil(bitCount / 8);
  const hex = parseFixedHex(value, byteLength);
  if (hex === undefined) return undefined;
  const bytes = fromHex(hex);
  const usedInLast = bitCount - 8 * (byteLength - 1);
  return bytes.at(-1)! >> usedInLast === 0 ? bytes : undefined;
}

export function bitList(maxBits: number): ParamSchema<Uint8Array> {
  return paramSchema(bitListForm(maxBits), { type: "string", pattern: "^0x([0-9a-fA-F]{2})+$" }, (value) =>
    parseBitList(value, maxBits),
  );
}

export function bitVector(bitCount: number): ParamSchema<Uint8Array> {
  const digits = 2 * Math.ceil(bitCount / 8);
  return paramSchema(bitVectorForm(bitCount), { type: "string", pattern: `^0x[0-9a-fA-F]{${digits}}$` }, (value) =>
    parseBitVector(value, bitCount),
  );
}
