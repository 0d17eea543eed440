import { fromHex } from "@lodestar/utils";
import { type ParamSchema, paramSchema } from "./schema.ts";

/** `0x` and exactly that many bytes in hex of either case, as lower case hex; undefined for everything else. */
export function parseFixedHex(value: unknown, byteLength: number): string | undefined {
  if (typeof value !== "string" || value.length !== 2 + 2 * byteLength) return undefined;
  return /^0x[0-9a-fA-F]*$/.test(value) ? value.toLowerCase() : undefined;
}

function fixedHex(noun: string, byteLength: number): ParamSchema<string> {
  const digits = 2 * byteLength;
  return paramSchema(
    `${noun}: 0x followed by ${digits} hex digits`,
    { type: "string", pattern: `^0x[0-9a-fA-F]{${digits}}$` },
    (value) => parseFixedHex(value, byteLength),
  );
}

export const root = fixedHex("a root", 32);
export const forkVersion = fixedHex("a fork version", 4);
export const executionAddress = fixedHex("an execution address", 20);

export const PUBKEY_PATTERN = "(0x)?[0-9a-fA-F]{96}";

/** The interface's duty examples write public keys without `0x`, so both forms are taken. */
export function parsePubkey(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return parseFixedHex(value.startsWith("0x") ? value : `0x${value}`, 48);
}

/** Any 48 bytes: a key that is no curve point is unknown to every state, not malformed. */
export const pubkey = paramSchema(
  "a BLS public key: 96 hex digits, with or without 0x before them",
  { type: "string", pattern: `^${PUBKEY_PATTERN}$` },
  parsePubkey,
);

export const signature = paramSchema(
  "a BLS signature: 0x followed by 192 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{192}$" },
  (value) => {
    const hex = parseFixedHex(value, 96);
    return hex === undefined ? undefined : fromHex(hex);
  },
);
