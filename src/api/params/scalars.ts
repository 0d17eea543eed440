import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import { z } from "zod";
import { parseGraffiti } from "../../chain/production/graffiti.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { ALWAYS_SAFE_DIGITS, IrregularNumber } from "../../json/parse.ts";
import {
  describeGiven,
  elementReader,
  firstMessage,
  type JsonForm,
  type ParamSchema,
  paramSchema,
  refuse,
} from "./schema.ts";

const MAX_UINT64 = 2n ** 64n - 1n;
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
 * chain can have reached, so it takes the place of a number that is larger than all others in comparisons and sums, and
 * that no lookup finds. Messages show it as it was given.
 */
class BeyondNumbers {
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
  return new BeyondNumbers(integer) as unknown as number;
}

/** A JSON number of any form, as the nearest number that JavaScript has; undefined for everything else. */
export function parseNumber(value: unknown): number | undefined {
  const number = value instanceof IrregularNumber ? Number(value.source) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A number that may have a fraction; `rightForm` says what it is. */
export function numberBetween(least: number, most: number, rightForm: string): ParamSchema<number> {
  return paramSchema(rightForm, { type: "number", minimum: least, maximum: most }, (value) => {
    const number = parseNumber(value);
    return number !== undefined && number >= least && number <= most ? number : undefined;
  });
}

export function parseUint64(value: unknown): number | undefined {
  // Most are far below 2^53, where a number is exact and takes less time than a bigint.
  if (typeof value === "string" && value.length <= ALWAYS_SAFE_DIGITS) {
    return DECIMAL.test(value) ? Number(value) : undefined;
  }
  const integer = parseInteger(value, MAX_UINT64);
  return integer === undefined ? undefined : toNumber(integer);
}

/** An integer from 0 to `max`; `rightForm` says what it is. */
export function integerUpTo(max: bigint, rightForm: string): ParamSchema<number> {
  return paramSchema(`${rightForm}, ${WRITTEN}`, INTEGER_FORM, (value) => {
    const integer = parseInteger(value, max);
    return integer === undefined ? undefined : toNumber(integer);
  });
}

export const uint64 = integerUpTo(MAX_UINT64, "an integer from 0 to 2^64-1");

/** For what is a quantity, which may be as large as it says, and no slot, epoch or index. */
export const exactUint64 = paramSchema(`an integer from 0 to 2^64-1, ${WRITTEN}`, INTEGER_FORM, (value) =>
  parseInteger(value, MAX_UINT64),
);

export const slot = integerUpTo(MAX_UINT64, "a slot: an integer from 0 to 2^64-1");

/** An epoch whose first slot is no uint64 does not exist. */
const MAX_EPOCH = MAX_UINT64 / BigInt(SLOTS_PER_EPOCH);

export const epoch = integerUpTo(MAX_EPOCH, `an epoch: an integer from 0 to ${MAX_EPOCH}`);

export const statusCode = paramSchema(
  "an HTTP status code: an integer from 100 to 599",
  { type: "integer", minimum: 100, maximum: 599 },
  (value) => {
    const integer = parseInteger(value, 599n);
    return integer === undefined || integer < 100n ? undefined : Number(integer);
  },
);

/** Whether a text is `0x` and some bytes in hex of either case. A pattern of pairs would need too much stack for millions of them. */
export function isHex(value: string): boolean {
  return value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value);
}

/** `0x` and exactly that many bytes in hex of either case, as lower case hex; undefined for everything else. */
export function parseFixedHex(value: unknown, byteLength: number): string | undefined {
  if (typeof value !== "string" || value.length !== 2 + 2 * byteLength) return undefined;
  return isHex(value) ? value.toLowerCase() : undefined;
}

export const root = paramSchema(
  "a root: 0x followed by 64 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  (value) => parseFixedHex(value, 32),
);

export const executionAddress = paramSchema(
  "an execution address: 0x followed by 40 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  (value) => {
    const hex = parseFixedHex(value, 20);
    return hex === undefined ? undefined : fromHex(hex);
  },
);

export const PUBKEY_PATTERN = "(0x)?[0-9a-fA-F]{96}";

/** Some callers write public keys without `0x`, so both forms are taken. */
export function parsePubkey(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return parseFixedHex(value.startsWith("0x") ? value : `0x${value}`, 48);
}

export const signature = paramSchema(
  "a BLS signature: 0x followed by 192 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{192}$" },
  (value) => {
    const hex = parseFixedHex(value, 96);
    return hex === undefined ? undefined : fromHex(hex);
  },
);

export const GRAFFITI_FORM =
  "graffiti of at most 32 bytes: text, which is taken as UTF-8, or 0x followed by an even number of hex digits";

export function graffitiFrom(value: unknown): Uint8Array | undefined {
  return typeof value === "string" ? parseGraffiti(value) : undefined;
}

/** Text or hex of at most 32 bytes, filled up with zero bytes on the right. */
export const graffiti = paramSchema(GRAFFITI_FORM, { type: "string" }, graffitiFrom);

/** The standard has graffiti only as hex in its queries. */
export const graffitiHex = paramSchema("graffiti: 0x followed by at most 64 hex digits", { type: "string" }, (value) =>
  typeof value === "string" && value.startsWith("0x") ? parseGraffiti(value) : undefined,
);

export const boolean = paramSchema("true or false", { type: "boolean" }, (value) =>
  typeof value === "boolean" ? value : undefined,
);

/** One of a fixed set of words, written exactly so. */
export function word<const Word extends string>(words: readonly Word[]): ParamSchema<Word> {
  const list = words.map((each) => `"${each}"`).join(", ");
  return z
    .unknown()
    .meta({ type: "string", enum: [...words] })
    .transform((value, context) => {
      const known = words.find((each) => each === value);
      if (known !== undefined) return known;
      const meant = typeof value === "string" ? nearestName(value, words) : undefined;
      const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
      return refuse(context, value, `must be one of ${list}, but ${describeGiven(value)} was given.${hint}`);
    });
}

/** Free text whose grammar is the handler's business; `noun` says what it is. */
export function text(noun: string): ParamSchema<string> {
  return paramSchema(`${noun}, written as a string`, { type: "string" }, (value) =>
    typeof value === "string" ? value : undefined,
  );
}

/** The most that a list may hold: as many validators as can vote together in one attestation. */
export const LONGEST_LIST = 131_072;

interface ArrayRules {
  /** What the elements are, in the plural. */
  noun: string;
  minItems?: number;
  maxItems?: number;
  /** Set for a list that REST has in the body of a request, where a bare string is no array. */
  isBody?: true;
}

/**
 * A JSON array without repeated elements. For the array-valued query parameters of REST, a bare string counts as an array
 * with that one element.
 */
export function arrayOf<T extends string | number>(element: ParamSchema<T>, rules: ArrayRules): ParamSchema<T[]> {
  const { noun, minItems = 0, maxItems = LONGEST_LIST, isBody = false } = rules;
  const read = elementReader(element);
  return z
    .unknown()
    .meta({ type: "array", items: jsonFormOf(element), uniqueItems: true })
    .transform((value, context) => {
      const given = typeof value === "string" && !isBody ? [value] : value;
      if (!Array.isArray(given)) {
        return refuse(context, value, `must be an array of ${noun}, but ${describeGiven(value)} was given.`);
      }
      if (given.length < minItems || given.length > maxItems) {
        const limit = given.length < minItems ? `at least ${minItems}` : `at most ${maxItems}`;
        return refuse(context, value, `must hold ${limit} ${noun}, but it holds ${given.length}.`);
      }
      const elements = new Map<string, T>();
      for (const [position, item] of given.entries()) {
        const parsed = read(item);
        if (parsed === undefined) return refuse(context, value, wrongElement(position, element, item));
        const key = String(parsed);
        if (elements.has(key)) {
          const repeated = `holds ${describeGiven(item)} more than once; each of its ${noun} may stand there once.`;
          return refuse(context, value, repeated);
        }
        elements.set(key, parsed);
      }
      return [...elements.values()];
    });
}

interface ListRules {
  /** What the elements are, in the singular and in the plural. */
  one: string;
  many: string;
}

/** At least one element; the same one twice does no harm. */
export function listOf<T>(element: ParamSchema<T>, { one, many }: ListRules): ParamSchema<T[]> {
  const read = elementReader(element);
  return z
    .unknown()
    .meta({ type: "array", items: jsonFormOf(element), minItems: 1 })
    .transform((value, context) => {
      if (!Array.isArray(value)) {
        return refuse(context, value, `must be an array of ${many}, but ${describeGiven(value)} was given.`);
      }
      if (value.length === 0) return refuse(context, value, `must hold at least one ${one}.`);
      if (value.length > LONGEST_LIST) {
        return refuse(context, value, `must hold at most ${LONGEST_LIST} ${many}, but it holds ${value.length}.`);
      }
      const elements: T[] = [];
      for (const [position, item] of value.entries()) {
        const parsed = read(item);
        if (parsed === undefined) return refuse(context, value, wrongElement(position, element, item));
        elements.push(parsed);
      }
      return elements;
    });
}

function jsonFormOf(schema: z.ZodType): JsonForm {
  const { $schema: _dialect, ...form } = z.toJSONSchema(schema, { io: "input" });
  return form;
}

function wrongElement(position: number, element: z.ZodType, item: unknown): string {
  const { error } = element.safeParse(item);
  return `has a wrong element at position ${position}: it ${error ? firstMessage(error) : "is not valid."}`;
}
