import type { TypedData } from "../../evm/eth/accounts/typed-data.ts";
import { BLOCK_TAGS, type BlockId, type BlockTag, type NumberedBlock } from "../../evm/eth/block-id.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { isHex, parseFixedHex, parseNumber } from "./scalars.ts";
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

export const ADDRESS = "an address: 0x followed by 40 hex digits";
export const ADDRESS_FORM: JsonForm = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };

export const ethAddress: ParamSchema<Uint8Array> = paramSchema(ADDRESS, ADDRESS_FORM, (value) =>
  parseFixedHex(value, 20) === undefined ? undefined : parseData(value),
);

export const hash32: ParamSchema<string> = paramSchema("a hash: 0x followed by 64 hex digits", HASH_FORM, (value) =>
  parseFixedHex(value, 32),
);

/** A 256-bit integer. */
export const quantity256: ParamSchema<bigint> = paramSchema(
  "an integer in hex: 0x followed by 1 to 64 hex digits",
  QUANTITY_FORM,
  (value) => parseQuantity(value),
);

/** A 64-bit integer. */
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

/** A word of 32 bytes. */
export const word: ParamSchema<Uint8Array> = paramSchema(
  "32 bytes: 0x followed by 64 hex digits",
  HASH_FORM,
  (value) => (parseFixedHex(value, 32) === undefined ? undefined : parseData(value)),
);

const TAG_LIST = BLOCK_TAGS.map((tag) => `"${tag}"`).join(", ");

/** A block given by number or tag. */
export const blockNumber: ParamSchema<NumberedBlock> = paramSchema(
  `a block number in hex, such as "0x10", or one of ${TAG_LIST}`,
  { anyOf: [TAG_FORM, SHORT_QUANTITY_FORM] },
  parseBlockNumber,
);

/** A block given by number, tag or hash (EIP-1898). */
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

export function parseBlockNumber(value: unknown): NumberedBlock | undefined {
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
  if (!isJsonObject(value)) return undefined;
  const { blockNumber: number, blockHash, requireCanonical, ...others } = value;
  if (Object.keys(others).length > 0 || (number === undefined) === (blockHash === undefined)) return undefined;
  if (number !== undefined) {
    const parsed = BLOCK_TAGS.includes(number as BlockTag) ? undefined : parseBlockNumber(number);
    return requireCanonical === undefined ? parsed : undefined;
  }
  const hash = parseFixedHex(blockHash, 32);
  if (hash === undefined || !["undefined", "boolean"].includes(typeof requireCanonical)) return undefined;
  return requireCanonical === undefined ? { hash } : { hash, requireCanonical: requireCanonical as boolean };
}

const SLOT = /^0x[0-9a-fA-F]{0,64}$/;
const SLOT_FORM: JsonForm = { type: "string", pattern: SLOT.source };

/** A storage slot. Leading zeros may be omitted. */
export const storageSlot: ParamSchema<Uint8Array> = paramSchema(
  "a storage slot: 0x followed by at most 64 hex digits",
  SLOT_FORM,
  (value) =>
    typeof value === "string" && SLOT.test(value)
      ? new Uint8Array(Buffer.from(value.slice(2).padStart(64, "0"), "hex"))
      : undefined,
);

/** Storage slots as they were received, since the response repeats them. */
export const storageSlots: ParamSchema<string[]> = paramSchema(
  "an array of storage slots, each 0x followed by at most 64 hex digits",
  { type: "array", items: SLOT_FORM },
  (value) => {
    if (!Array.isArray(value)) return undefined;
    const slots = value.filter((slot) => typeof slot === "string" && SLOT.test(slot));
    return slots.length === value.length ? slots.map((slot: string) => slot.toLowerCase()) : undefined;
  },
);

/** Percentiles for `eth_feeHistory`. */
export const percentiles: ParamSchema<number[]> = paramSchema(
  "an ascending array of at most 100 numbers from 0 to 100",
  { type: "array", items: { type: "number", minimum: 0, maximum: 100 }, maxItems: 100 },
  (value) => {
    if (!Array.isArray(value) || value.length > 100) return undefined;
    const numbers = value.map(parseNumber);
    const isRight = numbers.every(
      (number, index) => number !== undefined && number >= (numbers[index - 1] ?? 0) && number <= 100,
    );
    return isRight ? (numbers as number[]) : undefined;
  },
);

/** EIP-712 typed data, as an object or in JSON. */
export const typedData: ParamSchema<TypedData> = paramSchema(
  'typed data (EIP-712): an object with "types", "primaryType", "domain" and "message", or its JSON',
  {
    anyOf: [
      {
        type: "object",
        properties: {
          types: { type: "object" },
          primaryType: { type: "string" },
          domain: { type: "object" },
          message: { type: "object" },
        },
        required: ["types", "primaryType", "domain", "message"],
      },
      { type: "string", pattern: "^\\s*\\{" },
    ],
  },
  parseTypedData,
);

function parseTypedData(value: unknown): TypedData | undefined {
  if (typeof value === "string") {
    try {
      return parseTypedData(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  if (!isJsonObject(value)) return undefined;
  const { types, primaryType, domain, message } = value;
  if (!isJsonObject(types) || typeof primaryType !== "string" || !isJsonObject(domain) || !isJsonObject(message))
    return undefined;
  const isField = (field: unknown) =>
    isJsonObject(field) && typeof field.name === "string" && typeof field.type === "string";
  if (!Object.values(types).every((fields) => Array.isArray(fields) && fields.every(isField))) return undefined;
  return { types: types as unknown as TypedData["types"], primaryType, domain, message };
}

/** An id returned by `eth_newFilter`. */
export const filterId: ParamSchema<string> = paramSchema(
  "the id of a filter: 0x followed by at most 64 hex digits",
  QUANTITY_FORM,
  (value) => (typeof value === "string" && QUANTITY.test(value) ? value.toLowerCase() : undefined),
);
