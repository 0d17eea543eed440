import { TimeSlice } from "../async/time-slice.ts";
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  firstByte,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "./json-bytes.ts";

/**
 * A JSON number that JavaScript's numbers cannot hold without changing it (beyond 2^53-1), or that is not written as a
 * plain integer (a fraction, an exponent, `-0`). It keeps its text, so that ids are echoed and parameters refused as sent.
 */
export class IrregularNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** The number as it was sent. */
  toJSON(): unknown {
    return rawJson(this.source);
  }
}

/** Known to V8, but not to the types of the language yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** The bytes of a message are not a JSON text; the message says where or why. */
export class UnreadableMessage extends Error {}

/**
 * Far above what any payload needs, and low enough that recursive code behind the server (validation,
 * encoding, the JSON reviver itself) never runs out of stack.
 */
export const MAX_NESTING = 512;

/**
 * The largest slashing has half of it, since in electra a vote of all committees of a slot is one object; what holds more
 * keeps everybody else waiting while it is read.
 */
export const MAX_VALUES = 500_000;

/** Whoever reads a message from here on waits for a turn of the event loop for it: many at once would hold up everybody. */
export const LARGE_MESSAGE_BYTES = 64 * 1024;

/** What is longer is not read in one go where others wait for that. */
export const READ_AT_ONCE_BYTES = 1024 * 1024;

/** No object of the interface has a tenth of it. To read many different names takes ten times as long as other values. */
export const MAX_MEMBERS = 1000;

/** To keep irregular numbers takes some twenty times as long as to read others, so that a large message may hold none. */
export const IRREGULAR_NUMBERS_BELOW_BYTES = 256 * 1024;

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** Every integer of this many digits is below 2^53. */
export const ALWAYS_SAFE_DIGITS = 15;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** How much of a long message is looked at between two looks at the time. */
const SCANNED_AT_ONCE = 256 * 1024;
const SCAN_SLICE_MILLIS = 4;

/** Most strings end before that. */
const SHORT_STRING_BYTES = 64;

/** How many members the objects that are open have so far, by depth: one array for all messages that are read in one go. */
const members = new Uint16Array(MAX_NESTING + 1);

/** Reads one message. Throws an `UnreadableMessage` when the bytes are not UTF-8 or not JSON. */
export function parseMessage(bytes: Uint8Array): unknown {
  const scan = new Scan(bytes, members);
  scan.goOn(bytes.length);
  return parsed(bytes, scan.isIrregular);
}

/** The same for a long message: others have their turns while it is looked at, until it is read in one go. */
export async function parseLongMessage(bytes: Uint8Array): Promise<unknown> {
  const { isIrregular } = await scanInSlices(bytes);
  return parsed(bytes, isIrregular);
}

/**
 * Reads of a long message that is one object what it is about, and gives way to others meanwhile: arrays and objects in it are empty
 * ones here. What is wrong with them is for whoever reads the message itself. Any other message is read as it is, or refused when it is too long for that.
 */
export async function parseOutline(bytes: Uint8Array): Promise<unknown> {
  const scan = await scanInSlices(bytes);
  const isObject = firstByte(bytes) === OPENING_BRACE && scan.memberCount <= MAX_MEMBERS;
  const outline = isObject ? scan.outline : undefined;
  const isTooLong = bytes.length > READ_AT_ONCE_BYTES;
  if (isTooLong && outline === undefined) throw tooLongOutside();
  try {
    if (outline) return parsed(outline, scan.isIrregular);
  } catch {
    if (isTooLong) throw unreadableOutside();
    // Where the fault is can only be said of the message itself.
  }
  return parsed(bytes, scan.isIrregular);
}

/**
 * The elements of a long message that is an array, giving way to others meanwhile: the bytes of those that are arrays or objects, and the
 * values of the others. Of more than so many arrays and objects nothing is told but their number.
 */
export async function splitArray(bytes: Uint8Array, most: number): Promise<unknown[]> {
  const scan = await scanInSlices(bytes);
  if (scan.memberCount > most) return new Array(scan.memberCount);
  const { outline } = scan;
  if (outline === undefined) throw tooLongOutside();
  let values: unknown;
  try {
    values = parsed(outline, scan.isIrregular);
  } catch {
    throw unreadableOutside();
  }
  const texts = scan.members.values();
  return (values as unknown[]).map((value) => (isContainer(value) ? texts.next().value : value));
}

async function scanInSlices(bytes: Uint8Array): Promise<Scan> {
  const scan = new Scan(bytes, new Uint16Array(MAX_NESTING + 1));
  const slice = new TimeSlice(SCAN_SLICE_MILLIS);
  while (!scan.goOn(SCANNED_AT_ONCE)) await slice.yieldIfDue();
  return scan;
}

function parsed(bytes: Uint8Array, isIrregular: boolean): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new UnreadableMessage("The message is not valid UTF-8.");
  }
  try {
    return isIrregular ? JSON.parse(text, keepIrregularNumber) : JSON.parse(text);
  } catch (error) {
    throw new UnreadableMessage(bytes.length === 0 ? "The message is empty." : (error as Error).message);
  }
}

/**
 * One pass over the text outside its strings, which finds out whether it can be read within bounds. It may err on the side
 * of irregular numbers (integers of 16 digits that are still safe), because the reviver decides; most messages hold no such number
 * and are spared the far slower reviver.
 */
class Scan {
  readonly #bytes: Buffer;
  readonly #members: Uint16Array;
  isIrregular = false;
  #at = 0;
  #depth = 0;
  #values = 0;
  /** Whether it has stopped within a string. */
  #isInString = false;
  /** Where the arrays and objects that are members of the whole begin and end, one after the other. */
  readonly #inner: number[] = [];

  constructor(bytes: Uint8Array, openMembers: Uint16Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#members = openMembers;
  }

  /** The text with nothing in the arrays and objects that are members of it; undefined when they do not end, or it is long without them. */
  get outline(): Uint8Array | undefined {
    const inner = this.#inner;
    const bytes = this.#bytes;
    if (!Number.isInteger(this.memberCount)) return undefined;
    const pieces: Uint8Array[] = [];
    let end = 0;
    let length = bytes.length;
    for (let index = 0; index < inner.length; index += 2) {
      pieces.push(bytes.subarray(end, inner[index]! + 1));
      end = inner[index + 1]!;
      length -= end - inner[index]! - 1;
    }
    return length > READ_AT_ONCE_BYTES ? undefined : Buffer.concat([...pieces, bytes.subarray(end)]);
  }

  /** How many arrays and objects there are that the outline has nothing of. */
  get memberCount(): number {
    return this.#inner.length / 2;
  }

  /** These themselves. */
  get members(): Uint8Array[] {
    const inner = this.#inner;
    return Array.from({ length: this.memberCount }, (_, index) =>
      this.#bytes.subarray(inner[index * 2], inner[index * 2 + 1]! + 1),
    );
  }

  /** A member begins that is an array or an object: there are no more of them than values. */
  #enter(at: number, commas: number): void {
    if (this.#bytes.length > LARGE_MESSAGE_BYTES && this.memberCount > commas) throw withoutCommas();
    this.#inner.push(at);
  }

  /** Looks at about so many bytes more; tells whether these were the last. */
  goOn(count: number): boolean {
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
        // No further than to see that a long message is refused for it.
        const most = length < IRREGULAR_NUMBERS_BELOW_BYTES ? end : start + ALWAYS_SAFE_DIGITS;
        while (at < most && isDigit(bytes[at + 1])) at++;
        const next = bytes[at + 1];
        irregular ||= at - start >= ALWAYS_SAFE_DIGITS || next === DOT || next === LOWER_E || next === UPPER_E;
        if (irregular && length >= IRREGULAR_NUMBERS_BELOW_BYTES) throw tooLargeForIrregularNumbers();
      } else if (byte === COMMA) {
        if (++values > MAX_VALUES) throw new UnreadableMessage(`The message holds more than ${MAX_VALUES} values.`);
      } else if (byte === COLON) {
        // A text that closes more than it opens is no JSON, whatever is counted for it.
        if (depth > 0 && ++this.#members[depth]! > MAX_MEMBERS) {
          throw new UnreadableMessage(`The message holds an object of more than ${MAX_MEMBERS} members.`);
        }
      } else if (byte === MINUS) {
        irregular ||= bytes[at + 1] === ZERO;
        if (irregular && length >= IRREGULAR_NUMBERS_BELOW_BYTES) throw tooLargeForIrregularNumbers();
      } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
        if (++depth > MAX_NESTING) {
          throw new UnreadableMessage(`The message nests arrays and objects more than ${MAX_NESTING} levels deep.`);
        }
        this.#members[depth] = 0;
        if (depth === 2) this.#enter(at, values);
      } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
        if (depth-- === 2) this.#inner.push(at);
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

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null && !(value instanceof IrregularNumber);
}

function tooLongOutside(): UnreadableMessage {
  return new UnreadableMessage(
    `A message of more than ${READ_AT_ONCE_BYTES} bytes must be a call or a batch, with all but so many of its bytes in arrays and objects.`,
  );
}

function withoutCommas(): UnreadableMessage {
  return new UnreadableMessage("The message is not JSON: arrays or objects in it have no commas between them.");
}

function unreadableOutside(): UnreadableMessage {
  return new UnreadableMessage("The message is not JSON outside of its arrays and objects.");
}

function tooLargeForIrregularNumbers(): UnreadableMessage {
  return new UnreadableMessage(
    "A message this large may hold no fractions, exponents or numbers beyond 2^53-1; write large numbers as strings.",
  );
}

/** Where the string that `at` is within ends; what is not before `end` is not looked for. */
function endOfString(bytes: Buffer, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const soon = Math.min(next + SHORT_STRING_BYTES, end);
    while (next < soon && bytes[next] !== QUOTE) {
      next += bytes[next] === BACKSLASH ? 2 : 1;
    }
    if (next < soon) return next;
    next = nextSpecial(bytes, next, end);
  }
  return next;
}

/** Where the next quote or backslash is, or the end: finds it faster than a look at each byte, if it is far away. */
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
