import { TimeSlice } from "../async/time-slice.ts";
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  firstNonSpace,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "./value-bounds.ts";

/**
 * A JSON number that is not a plain safe integer: beyond 2^53-1, with a fraction or an exponent, or `-0`. Keeps the
 * source text, so ids are echoed unchanged and errors show the received value.
 */
export class IrregularNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** Serializes to the source text. */
  toJSON(): unknown {
    return rawJson(this.source);
  }
}

// Not included in the type declarations yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** The message is not valid JSON, or exceeds a limit. */
export class JsonParseError extends Error {}

/** The message exceeds a limit. It may or may not be valid JSON. */
export class JsonLimitError extends JsonParseError {}

/** Maximum nesting depth. Protects recursive code (validation, encoding, the JSON reviver) from stack overflows. */
export const MAX_NESTING = 512;

/**
 * Maximum number of values: twice as many as in the largest attester slashing, which since electra contains all
 * committees of a slot.
 */
export const MAX_VALUES = 500_000;

/** Larger messages are parsed in their own event loop turn, so that a burst of them does not block the loop. */
export const LARGE_MESSAGE_BYTES = 64 * 1024;

/** Maximum size of a message parsed synchronously on a thread that serves clients. */
export const MAX_SYNC_PARSE_BYTES = 1024 * 1024;

/**
 * Maximum number of members in an object: enough for the state overrides that fit into the message of one call.
 * Distinct names take ten times as long to parse as other values, and twenty times as long in an object with 100,000 of
 * them.
 */
export const MAX_MEMBERS = 10_000;

/**
 * Messages of this size or more must not contain irregular numbers, which take about twenty times as long to parse as
 * other values.
 */
export const IRREGULAR_NUMBERS_BELOW_BYTES = 256 * 1024;

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** Every integer with this many digits is below 2^53. */
export const ALWAYS_SAFE_DIGITS = 15;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Bytes scanned between two checks of the time slice. */
const SCAN_STEP_BYTES = 256 * 1024;
const SCAN_SLICE_MILLIS = 4;

/** Most strings are shorter than this. */
const SHORT_STRING_BYTES = 64;

/** Member counts of open objects, indexed by depth. Shared by all synchronous scans. */
const memberCounts = new Uint16Array(MAX_NESTING + 1);

/** An array or object within a message whose limits have been checked. Its syntax is not checked yet. */
export class ScannedJson {
  readonly message: Buffer;
  /** True if the value may contain irregular numbers. */
  readonly isIrregular: boolean;
  readonly #start: number;
  readonly #end: number;

  constructor(message: Buffer, start: number, end: number, isIrregular: boolean) {
    this.message = message;
    this.isIrregular = isIrregular;
    this.#start = start;
    this.#end = end;
  }

  get bytes(): Buffer {
    return this.message.subarray(this.#start, this.#end);
  }

  get text(): string {
    return this.message.toString("utf8", this.#start, this.#end);
  }
}

/** Parses a message. Throws a `JsonParseError` if it is not UTF-8 or not JSON, or exceeds a limit. */
export function parseMessage(bytes: Uint8Array): unknown {
  return parseWithNested(bytes).value;
}

/** Parses a message. Also returns the text of its only nested array or object, such as the parameters of a request. */
export function parseWithNested(bytes: Uint8Array): { value: unknown; nested: ScannedJson | undefined } {
  const scan = new Scan(bytes, memberCounts);
  scan.advance(bytes.length);
  const value = parsed(bytes, scan.isIrregular);
  return { value, nested: scan.nestedCount === 1 ? scan.nested(0) : undefined };
}

/** Parses part of a message whose limits have been checked. */
export function parseScanned(json: string | Uint8Array, isIrregular: boolean): unknown {
  return typeof json === "string" ? parsedText(json, isIrregular) : parsed(json, isIrregular);
}

/** Parses a large message. The limits are checked in time slices, but JSON.parse itself is synchronous. */
export async function parseMessageInSlices(bytes: Uint8Array): Promise<unknown> {
  const { isIrregular } = await scanInSlices(bytes);
  return parsed(bytes, isIrregular);
}

/** The top level of a message, with placeholders for its nested arrays and objects. */
export interface Outline {
  value: unknown;
  /** Returns the nested value that a placeholder refers to. */
  nested(placeholder: unknown): ScannedJson;
}

/**
 * Parses only the top level of a large object, with time slicing. Nested arrays and objects are not validated. A
 * message that is not an object is parsed as a whole, unless it is too large for a synchronous parse.
 */
export async function parseTopLevel(bytes: Uint8Array): Promise<Outline> {
  const scan = await scanInSlices(bytes);
  const isObject = firstNonSpace(bytes) === OPENING_BRACE && scan.nestedCount <= MAX_MEMBERS;
  const topLevel = isObject ? scan.topLevel : undefined;
  const isTooLong = bytes.length > MAX_SYNC_PARSE_BYTES;
  if (isTooLong && topLevel === undefined) throw tooLongOutside();
  const nested = (placeholder: unknown) => scan.nested(positionOf(placeholder));
  try {
    if (topLevel) return { value: parsed(topLevel, scan.isIrregular), nested };
  } catch {
    if (isTooLong) throw unreadableOutside();
    // The whole message is parsed to get an error with the right position.
  }
  return { value: parsed(bytes, scan.isIrregular), nested };
}

/**
 * Splits a large array into its elements, with time slicing. Arrays and objects are returned as bytes, other elements
 * as values. If there are more than `max` arrays and objects, returns an empty array of that length.
 */
export async function splitArray(bytes: Uint8Array, max: number): Promise<unknown[]> {
  const scan = await scanInSlices(bytes);
  if (scan.nestedCount > max) return new Array(scan.nestedCount);
  const { topLevel } = scan;
  if (topLevel === undefined) throw tooLongOutside();
  let values: unknown;
  try {
    values = parsed(topLevel, scan.isIrregular);
  } catch {
    throw unreadableOutside();
  }
  return (values as unknown[]).map((value) => (Array.isArray(value) ? scan.nested(positionOf(value)).bytes : value));
}

async function scanInSlices(bytes: Uint8Array): Promise<Scan> {
  const scan = new Scan(bytes, new Uint16Array(MAX_NESTING + 1));
  const slice = new TimeSlice(SCAN_SLICE_MILLIS);
  while (!scan.advance(SCAN_STEP_BYTES)) await slice.yieldIfDue();
  return scan;
}

function parsed(bytes: Uint8Array, isIrregular: boolean): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new JsonParseError("The message is not valid UTF-8.");
  }
  return parsedText(text, isIrregular);
}

function parsedText(text: string, isIrregular: boolean): unknown {
  try {
    return isIrregular ? JSON.parse(text, keepIrregularNumber) : JSON.parse(text);
  } catch (error) {
    throw new JsonParseError(text.length === 0 ? "The message is empty." : (error as Error).message);
  }
}

/**
 * Checks the limits of a message and finds nested values in one pass. May report safe integers with 16 digits as
 * irregular numbers, which is harmless because the reviver decides. If none are found, the much slower reviver is
 * skipped.
 */
class Scan {
  readonly #bytes: Buffer;
  readonly #members: Uint16Array;
  isIrregular = false;
  #at = 0;
  #depth = 0;
  #values = 0;
  /** True if the scan stopped inside a string. */
  #isInString = false;
  /** First and last positions of the arrays and objects at depth 2, alternating. */
  readonly #nestedBounds: number[] = [];

  constructor(bytes: Uint8Array, openMembers: Uint16Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#members = openMembers;
  }

  /**
   * The text with nested arrays and objects replaced by placeholders, which are arrays containing their position.
   * Undefined if a nested value is unterminated or the remaining text is still too large.
   */
  get topLevel(): Uint8Array | undefined {
    const bounds = this.#nestedBounds;
    const bytes = this.#bytes;
    if (!Number.isInteger(this.nestedCount)) return undefined;
    const pieces: Uint8Array[] = [];
    let end = 0;
    let length = bytes.length;
    for (let position = 0; position < this.nestedCount; position++) {
      const start = bounds[2 * position]!;
      pieces.push(bytes.subarray(end, start), Buffer.from(`[${position}]`));
      end = bounds[2 * position + 1]! + 1;
      length -= end - start;
    }
    return length > MAX_SYNC_PARSE_BYTES ? undefined : Buffer.concat([...pieces, bytes.subarray(end)]);
  }

  /** Number of nested arrays and objects. */
  get nestedCount(): number {
    return this.#nestedBounds.length / 2;
  }

  /** Returns the nested array or object at a position. */
  nested(position: number): ScannedJson {
    const bounds = this.#nestedBounds;
    return new ScannedJson(this.#bytes, bounds[2 * position]!, bounds[2 * position + 1]! + 1, this.isIrregular);
  }

  /**
   * Records the start of a nested array or object. Rejects a message that has more nested values than its commas can
   * separate.
   */
  #enterNested(at: number, commas: number): void {
    if (this.#bytes.length > LARGE_MESSAGE_BYTES && this.nestedCount > commas) throw withoutCommas();
    this.#nestedBounds.push(at);
  }

  /** Scans about `count` more bytes. Returns true at the end of the message. */
  advance(count: number): boolean {
    const bytes = this.#bytes;
    const { length } = bytes;
    const end = Math.min(length, this.#at + count);
    let irregular = this.isIrregular;
    let depth = this.#depth;
    let values = this.#values;
    let at = this.#at;
    let inString = this.#isInString;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (inString || byte === QUOTE) {
        at = endOfString(bytes, inString ? at : at + 1, end);
        inString = at >= end;
        if (inString) break;
      } else if (byte >= ZERO && byte <= NINE) {
        const start = at;
        // In a large message, the scan stops once it has seen enough digits to reject the message.
        const last = length < IRREGULAR_NUMBERS_BELOW_BYTES ? end : start + ALWAYS_SAFE_DIGITS;
        while (at < last && isDigit(bytes[at + 1])) at++;
        const next = bytes[at + 1];
        irregular ||= at - start >= ALWAYS_SAFE_DIGITS || next === DOT || next === LOWER_E || next === UPPER_E;
        if (irregular && length >= IRREGULAR_NUMBERS_BELOW_BYTES) throw tooLargeForIrregularNumbers();
      } else if (byte === COMMA) {
        if (++values > MAX_VALUES)
          throw new JsonLimitError(`The message has more than ${MAX_VALUES} values. Split it.`);
      } else if (byte === COLON) {
        // JSON.parse rejects unbalanced text later.
        if (depth > 0 && ++this.#members[depth]! > MAX_MEMBERS) {
          throw new JsonLimitError(`The message has an object with more than ${MAX_MEMBERS} members. Split it.`);
        }
      } else if (byte === MINUS) {
        irregular ||= bytes[at + 1] === ZERO;
        if (irregular && length >= IRREGULAR_NUMBERS_BELOW_BYTES) throw tooLargeForIrregularNumbers();
      } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
        if (++depth > MAX_NESTING) {
          throw new JsonLimitError(`The message nests arrays and objects more than ${MAX_NESTING} levels deep.`);
        }
        this.#members[depth] = 0;
        if (depth === 2) this.#enterNested(at, values);
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
        if (depth-- === 2) this.#nestedBounds.push(at);
      }
    }
    this.isIrregular = irregular;
    this.#depth = depth;
    this.#values = values;
    this.#isInString = inString;
    this.#at = at;
    return at >= length;
  }
}

/** Returns the position of the nested array or object that a placeholder refers to. */
function positionOf(placeholder: unknown): number {
  return (placeholder as [number])[0];
}

function tooLongOutside(): JsonLimitError {
  return new JsonLimitError(
    `A message of more than ${MAX_SYNC_PARSE_BYTES} bytes must be a call or a batch with at most that many bytes outside of nested arrays and objects.`,
  );
}

function withoutCommas(): JsonParseError {
  return new JsonParseError("The message is not JSON: commas are missing between arrays or objects.");
}

function unreadableOutside(): JsonParseError {
  return new JsonParseError("The message is not JSON outside of its nested arrays and objects.");
}

function tooLargeForIrregularNumbers(): JsonLimitError {
  return new JsonLimitError(
    `A message of ${IRREGULAR_NUMBERS_BELOW_BYTES} bytes or more must not contain fractions, exponents or numbers beyond 2^53-1. Write large numbers as strings.`,
  );
}

/** Returns the position of the closing quote of the string that contains `at`, or at least `end`. */
function endOfString(bytes: Buffer, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const near = Math.min(next + SHORT_STRING_BYTES, end);
    while (next < near && bytes[next] !== QUOTE) {
      next += bytes[next] === BACKSLASH ? 2 : 1;
    }
    if (next < near) return next;
    next = nextSpecial(bytes, next, end);
  }
  return next;
}

/** Returns the position of the next quote or backslash, or `end`. Faster than a loop for long strings. */
function nextSpecial(bytes: Buffer, at: number, end: number): number {
  const rest = bytes.subarray(at, end);
  const quote = rest.indexOf(QUOTE);
  const backslash = (quote < 0 ? rest : rest.subarray(0, quote)).indexOf(BACKSLASH);
  if (backslash >= 0) return at + backslash;
  return quote >= 0 ? at + quote : Math.max(at, end);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function keepIrregularNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return Number.isSafeInteger(value) && String(value) === context.source ? value : new IrregularNumber(context.source);
}
