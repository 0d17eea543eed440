import { BLOCK_TAGS, type BlockId, type BlockTag } from "../../evm/eth/block-id.ts";
import { isHex, parseFixedHex } from "./scalars.ts";
import { type JsonForm, type ParamSchema, paramSchema } from "./schema.ts";

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
const MAX_UINT64 = 2n ** 64n - 1n;
const QUANTITY_FORM: JsonForm = { type: "string", pattern: QUANTITY.source };
const SHORT_QUANTITY_FORM: JsonForm = { type: "string", pattern: "^0x[0-9a-fA-F]{1,16}$" };
const HASH_FORM: JsonForm = { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" };
const TAG_FORM: JsonForm = { type: "string", enum: [...BLOCK_TAGS] };

export function parseQuantity(value: unknown, max: bigint = 2n ** 256n - 1n): bigint | undefined {
  if (typeof value !== "string" || !QUANTITY.test(value)) return undefined;
  const integer = BigInt(value);
  return integer <= max ? integer : undefined;
}

export function parseData(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string" || !isHex(value)) return undefined;
  return new Uint8Array(Buffer.from(value.slice(2), "hex"));
}

export const ethAddress: ParamSchema<Uint8Array> = paramSchema(
  "an address: 0x followed by 40 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  (value) => (parseFixedHex(value, 20) === undefined ? undefined : parseData(value)),
);

export const hash32: ParamSchema<string> = paramSchema("a hash: 0x followed by 64 hex digits", HASH_FORM, (value) =>
  parseFixedHex(value, 32),
);

/** An integer of 256 bits. */
export const quantity256: ParamSchema<bigint> = paramSchema(
  "an integer in hex: 0x followed by 1 to 64 hex digits",
  QUANTITY_FORM,
  (value) => parseQuantity(value),
);

/** An integer of 64 bits. */
export const quantity64: ParamSchema<bigint> = paramSchema(
  "an integer in hex: 0x followed by 1 to 16 hex digits",
  SHORT_QUANTITY_FORM,
  (value) => (typeof value === "string" && value.length > 18 ? undefined : parseQuantity(value, MAX_UINT64)),
);

export const bytes: ParamSchema<Uint8Array> = paramSchema(
  "bytes: 0x followed by an even number of hex digits",
  { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" },
  parseData,
);

const TAG_LIST = BLOCK_TAGS.map((tag) => `"${tag}"`).join(", ");

/** A block by number or tag. */
export const blockNumber: ParamSchema<BlockId> = paramSchema(
  `a block number in hex, such as "0x10", or one of ${TAG_LIST}`,
  { anyOf: [TAG_FORM, SHORT_QUANTITY_FORM] },
  parseBlockNumber,
);

/** A block by number, tag or hash (EIP-1898). */
export const ethBlockId: ParamSchema<BlockId> = paramSchema(
  `a block number in hex, such as "0x10", one of ${TAG_LIST}, a block hash, ` +
    'or an object with "blockNumber" or "blockHash" (EIP-1898)',
  {
    anyOf: [
      TAG_FORM,
      SHORT_QUANTITY_FORM,
      HASH_FORM,
      {
        type: "object",
        properties: { blockNumber: SHORT_QUANTITY_FORM },
        required: ["blockNumber"],
        additionalProperties: false,
      },
      {
        type: "object",
        properties: { blockHash: HASH_FORM, requireCanonical: { type: "boolean" } },
        required: ["blockHash"],
        additionalProperties: false,
      },
    ],
  },
  (value) => parseBlockNumber(value) ?? parseBlockHash(value) ?? parseBlockObject(value),
);

function parseBlockNumber(value: unknown): BlockId | undefined {
  if (BLOCK_TAGS.includes(value as BlockTag)) return { tag: value as BlockTag };
  if (typeof value !== "string" || value.length > 18) return undefined;
  const number = parseQuantity(value);
  return number === undefined ? undefined : { number };
}

function parseBlockHash(value: unknown): BlockId | undefined {
  const hash = parseFixedHex(value, 32);
  return hash === undefined ? undefined : { hash };
}

function parseBlockObject(value: unknown): BlockId | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { blockNumber: number, blockHash, requireCanonical, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0 || (number === undefined) === (blockHash === undefined)) return undefined;
  if (number !== undefined) {
    const parsed = BLOCK_TAGS.includes(number as BlockTag) ? undefined : parseBlockNumber(number);
    return requireCanonical === undefined ? parsed : undefined;
  }
  const hash = parseFixedHex(blockHash, 32);
  if (hash === undefined || !["undefined", "boolean"].includes(typeof requireCanonical)) return undefined;
  return requireCanonical === undefined ? { hash } : { hash, requireCanonical: requireCanonical as boolean };
}
