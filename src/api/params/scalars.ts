import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import { z } from "zod";
import { parseGraffiti } from "../../chain/production/graffiti.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { ALWAYS_SAFE_DIGITS, IrregularNumber } from "../../json/parse.ts";
import {
  addIssue,
  describeValue,
  elementParser,
  firstMessage,
  formOf,
  type Hint,
  type JsonForm,
  type ParamSchema,
  paramSchema,
} from "./schema.ts";

const MAX_UINT64 = 2n ** 64n - 1n;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

const INTEGER_FORM: JsonForm = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
    { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
};

export const INTEGER_NOTATION = "written as a decimal string without leading zeros or as a JSON integer up to 2^53-1";

/** Parses a decimal string or a safe JSON integer up to `max`. Returns undefined for anything else. */
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
 * A slot, epoch or index above 2^53-1, which a number cannot represent and no chain reaches. It acts as infinity in
 * comparisons and sums and is never found in lookups. Converted to a string, it yields the original integer.
 */
class UnsafeUint64 {
  readonly #digits: string;

  constructor(integer: bigint) {
    this.#digits = String(integer);
  }

  valueOf(): number {
    return Number.POSITIVE_INFINITY;
  }

  toString(): string {
    return this.#digits;
  }
}

function toNumber(integer: bigint): number {
  if (integer <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(integer);
  return new UnsafeUint64(integer) as unknown as number;
}

/** Parses a number in any JSON notation to the nearest JavaScript number. Returns undefined for anything else. */
export function parseNumber(value: unknown): number | undefined {
  const number = value instanceof IrregularNumber ? Number(value.source) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A number from `min` to `max`, possibly with a fraction. `expected` describes the number in error messages. */
export function numberBetween(min: number, max: number, expected: string): ParamSchema<number> {
  return paramSchema(expected, { type: "number", minimum: min, maximum: max }, (value) => {
    const number = parseNumber(value);
    return number !== undefined && number >= min && number <= max ? number : undefined;
  });
}

/** Parses a uint64. Values above 2^53-1 become an `UnsafeUint64`. */
export function parseUint64(value: unknown): number | undefined {
  // Fast path, because short integers are safe and need no bigint.
  if (typeof value === "string" && value.length <= ALWAYS_SAFE_DIGITS) {
    return DECIMAL.test(value) ? Number(value) : undefined;
  }
  const integer = parseInteger(value, MAX_UINT64);
  return integer === undefined ? undefined : toNumber(integer);
}

const HEX_UINT64 = /^0x[0-9a-fA-F]{1,16}$/;

/** Suggests the decimal form of a hex integer. `plural` names such integers and starts the sentence. */
export function decimalHint(plural: string): Hint {
  return (value) => {
    if (typeof value !== "string" || !HEX_UINT64.test(value)) return undefined;
    return `${plural} are decimal; did you mean ${BigInt(value)}?`;
  };
}

/** Suggests adding `0x` to hex of `byteLength` bytes. `plural` names such values and starts the sentence. */
export function prefixHint(plural: string, byteLength: number): Hint {
  return (value) => {
    const isHexWithoutPrefix = typeof value === "string" && parseFixedHex(`0x${value}`, byteLength) !== undefined;
    return isHexWithoutPrefix ? `${plural} start with 0x.` : undefined;
  };
}

/**
 * An integer from 0 to `max`. `expected` describes the integer in error messages, and `plural` names such integers in
 * the hint for hex.
 */
export function integerUpTo(max: bigint, expected: string, plural = "Integers"): ParamSchema<number> {
  return paramSchema(
    `${expected}, ${INTEGER_NOTATION}`,
    INTEGER_FORM,
    (value) => {
      const integer = parseInteger(value, max);
      return integer === undefined ? undefined : toNumber(integer);
    },
    decimalHint(plural),
  );
}

export const uint64 = integerUpTo(MAX_UINT64, "an integer from 0 to 2^64-1");

/** An exact uint64 as a bigint, used for amounts. */
export const exactUint64 = paramSchema(
  `an integer from 0 to 2^64-1, ${INTEGER_NOTATION}`,
  INTEGER_FORM,
  (value) => parseInteger(value, MAX_UINT64),
  decimalHint("Integers"),
);

export const slot = integerUpTo(MAX_UINT64, "a slot: an integer from 0 to 2^64-1", "Slots");

/** A slot of a chain that runs, whose number is exact. */
export const plannedSlot = integerUpTo(2n ** 52n, "a slot: an integer from 0 to 2^52", "Slots");

/** The last epoch whose first slot fits into a uint64. */
const MAX_EPOCH = MAX_UINT64 / BigInt(SLOTS_PER_EPOCH);

export const epoch = integerUpTo(MAX_EPOCH, `an epoch: an integer from 0 to ${MAX_EPOCH}`, "Epochs");

export const statusCode = paramSchema(
  "an HTTP status code: an integer from 100 to 599",
  { type: "integer", minimum: 100, maximum: 599 },
  (value) => {
    const integer = parseInteger(value, 599n);
    return integer === undefined || integer < 100n ? undefined : Number(integer);
  },
);

/**
 * Returns true for `0x` followed by an even number of hex digits. A regex for pairs of digits would overflow the stack
 * on megabytes of hex.
 */
export function isHex(value: string): boolean {
  return value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value);
}

/** Parses hex of exactly `byteLength` bytes and returns it in lower case. Returns undefined for anything else. */
export function parseFixedHex(value: unknown, byteLength: number): string | undefined {
  if (typeof value !== "string" || value.length !== 2 + 2 * byteLength) return undefined;
  return isHex(value) ? value.toLowerCase() : undefined;
}

export const root = paramSchema(
  "a root: 0x followed by 64 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  (value) => parseFixedHex(value, 32),
  prefixHint("Roots", 32),
);

export const executionAddress = paramSchema(
  "an execution address: 0x followed by 40 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  (value) => {
    const hex = parseFixedHex(value, 20);
    return hex === undefined ? undefined : fromHex(hex);
  },
  prefixHint("Addresses", 20),
);

export const PUBKEY_PATTERN = "(0x)?[0-9a-fA-F]{96}";

/** Parses a BLS public key with or without `0x` and returns it as lowercase hex with `0x`. */
export function parsePubkey(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return parseFixedHex(value.startsWith("0x") ? value : `0x${value}`, 48);
}

export const pubkey = paramSchema(
  "a BLS public key: 96 hex digits, with or without 0x",
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
  prefixHint("Signatures", 96),
);

export const GRAFFITI_FORM = "graffiti of at most 32 bytes: UTF-8 text, or 0x followed by an even number of hex digits";

export function parseGraffitiValue(value: unknown): Uint8Array | undefined {
  return typeof value === "string" ? parseGraffiti(value) : undefined;
}

/** Text or hex of at most 32 bytes, padded with zeros on the right. */
export const graffiti = paramSchema(GRAFFITI_FORM, { type: "string" }, parseGraffitiValue);

/** Graffiti in a REST query, where the Beacon API allows nothing but hex. */
export const graffitiHex = paramSchema("graffiti: 0x followed by at most 64 hex digits", { type: "string" }, (value) =>
  typeof value === "string" && value.startsWith("0x") ? parseGraffiti(value) : undefined,
);

export const boolean = paramSchema("true or false", { type: "boolean" }, (value) =>
  typeof value === "boolean" ? value : undefined,
);

/** One of a fixed set of strings. Case-sensitive. */
export function stringEnum<const Word extends string>(words: readonly Word[]): ParamSchema<Word> {
  const list = words.map((each) => `"${each}"`).join(", ");
  return z
    .unknown()
    .meta({ type: "string", enum: [...words] })
    .transform((value, context) => {
      const word = words.find((each) => each === value);
      if (word !== undefined) return word;
      const similar = typeof value === "string" ? nearestName(value, words) : undefined;
      const hint = similar === undefined ? "" : ` Did you mean "${similar}"?`;
      return addIssue(context, value, `must be one of ${list}, but ${describeValue(value)} was given.${hint}`);
    });
}

/** Any string, parsed by the handler. `noun` describes it in error messages. */
export function text(noun: string): ParamSchema<string> {
  return paramSchema(`${noun}, written as a string`, { type: "string" }, (value) =>
    typeof value === "string" ? value : undefined,
  );
}

/** Maximum length of a list, equal to the number of validators that a single attestation can contain. */
const MAX_LIST_LENGTH = 131_072;

interface ArrayRules {
  /** The elements' plural name. */
  noun: string;
  minItems?: number;
  maxItems?: number;
  /** True for a list in a request body, where a bare string does not count as an array. */
  isBody?: true;
}

/** An array without duplicates. A bare string is treated as an array of one element, as in REST queries. */
export function uniqueArrayOf<T extends string | number>(element: ParamSchema<T>, rules: ArrayRules): ParamSchema<T[]> {
  const { noun, minItems = 0, maxItems = MAX_LIST_LENGTH, isBody = false } = rules;
  const read = elementParser(element);
  return z
    .unknown()
    .meta({
      type: "array",
      get items() {
        return formOf(element);
      },
      uniqueItems: true,
    })
    .transform((value, context) => {
      const list = typeof value === "string" && !isBody ? [value] : value;
      if (!Array.isArray(list)) {
        return addIssue(context, value, `must be an array of ${noun}, but ${describeValue(value)} was given.`);
      }
      if (list.length < minItems || list.length > maxItems) {
        const limit = list.length < minItems ? `at least ${minItems}` : `at most ${maxItems}`;
        return addIssue(context, value, `must contain ${limit} ${noun}, but it contains ${list.length}.`);
      }
      const elements = new Map<string, T>();
      for (const [position, item] of list.entries()) {
        const parsed = read(item);
        if (parsed === undefined) return addIssue(context, value, describeInvalidElement(position, element, item));
        const key = String(parsed);
        if (elements.has(key)) {
          return addIssue(
            context,
            value,
            `contains ${describeValue(item)} more than once: its ${noun} must be unique.`,
          );
        }
        elements.set(key, parsed);
      }
      return [...elements.values()];
    });
}

interface ListRules {
  /** The elements' name in the singular and plural. */
  one: string;
  many: string;
}

/** An array of at least one element. Duplicates are allowed. */
export function nonEmptyListOf<T>(element: ParamSchema<T>, { one, many }: ListRules): ParamSchema<T[]> {
  const read = elementParser(element);
  return z
    .unknown()
    .meta({
      type: "array",
      get items() {
        return formOf(element);
      },
      minItems: 1,
    })
    .transform((value, context) => {
      if (!Array.isArray(value)) {
        return addIssue(context, value, `must be an array of ${many}, but ${describeValue(value)} was given.`);
      }
      if (value.length === 0) return addIssue(context, value, `must contain at least one ${one}.`);
      if (value.length > MAX_LIST_LENGTH) {
        return addIssue(
          context,
          value,
          `must contain at most ${MAX_LIST_LENGTH} ${many}, but it contains ${value.length}.`,
        );
      }
      const elements: T[] = [];
      for (const [position, item] of value.entries()) {
        const parsed = read(item);
        if (parsed === undefined) return addIssue(context, value, describeInvalidElement(position, element, item));
        elements.push(parsed);
      }
      return elements;
    });
}

function describeInvalidElement(position: number, element: z.ZodType, item: unknown): string {
  const { error } = element.safeParse(item);
  return `has an invalid element at position ${position}: it ${error ? firstMessage(error) : "is not valid."}`;
}
