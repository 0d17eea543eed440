import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type JsonForm, paramSchema } from "./schema.ts";

export const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_UINT256 = 2n ** 256n - 1n;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

const INTEGER_FORM: JsonForm = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
    { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
};

export const WRITTEN = "written as a decimal string without leading zeros or as a JSON integer up to 2^53-1";

/** A decimal string or a JSON integer that JSON numbers carry exactly; undefined for everything else. */
export function parseInteger(value: unknown, max: bigint): bigint | undefined {
  const integer = typeof value === "string" ? parseDecimal(value) : parseSafeInteger(value);
  return integer !== undefined && integer <= max ? integer : undefined;
}

function parseDecimal(text: string): bigint | undefined {
  return DECIMAL.test(text) ? BigInt(text) : undefined;
}

function parseSafeInteger(value: unknown): bigint | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? BigInt(value as number) : undefined;
}

/**
 * Slots, epochs and indices are JavaScript numbers inside the node. A legal uint64 above 2^53-1 names nothing that a
 * chain can have reached, so it becomes Infinity, which no lookup finds, instead of a rounded number.
 */
function toNumber(integer: bigint): number {
  return integer <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(integer) : Number.POSITIVE_INFINITY;
}

export function parseUint64(value: unknown): number | undefined {
  const integer = parseInteger(value, MAX_UINT64);
  return integer === undefined ? undefined : toNumber(integer);
}

export const uint64 = paramSchema(`an integer from 0 to 2^64-1, ${WRITTEN}`, INTEGER_FORM, parseUint64);

export const uint8 = paramSchema(`an integer from 0 to 255, ${WRITTEN}`, INTEGER_FORM, (value) => {
  const integer = parseInteger(value, 255n);
  return integer === undefined ? undefined : Number(integer);
});

/** Amounts in Wei exceed what a JSON number carries, so only the decimal string is taken. */
export const uint256 = paramSchema(
  "an integer from 0 to 2^256-1, written as a decimal string without leading zeros",
  { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
  (value) => (typeof value === "string" ? parseInteger(value, MAX_UINT256) : undefined),
);

export const slot = paramSchema(`a slot: an integer from 0 to 2^64-1, ${WRITTEN}`, INTEGER_FORM, parseUint64);

/** An epoch whose first slot is no uint64 does not exist. */
const MAX_EPOCH = MAX_UINT64 / BigInt(SLOTS_PER_EPOCH);

export const epoch = paramSchema(`an epoch: an integer from 0 to ${MAX_EPOCH}, ${WRITTEN}`, INTEGER_FORM, (value) => {
  const integer = parseInteger(value, MAX_EPOCH);
  return integer === undefined ? undefined : toNumber(integer);
});

export const statusCode = paramSchema(
  "an HTTP status code: an integer from 100 to 599",
  { type: "integer", minimum: 100, maximum: 599 },
  (value) => {
    const integer = parseInteger(value, 599n);
    return integer === undefined || integer < 100n ? undefined : Number(integer);
  },
);
