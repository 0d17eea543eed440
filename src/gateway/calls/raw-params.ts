import { parseMessage } from "../../json/parse.ts";
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  skipSpace,
} from "../../json/value-bounds.ts";
import type { Params } from "../../server/method-table.ts";

/** The unparsed bytes of a JSON value. */
export class RawJson {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Concatenates values into one JSON array. Values that are arrays are flattened. */
  static concatLists(values: readonly RawJson[]): Buffer {
    const items = values.map(({ bytes }) => (bytes[0] === OPENING_BRACKET ? bytes.subarray(1, -1) : bytes));
    const parts = items.filter((item) => skipSpace(item, 0) < item.length).flatMap((item) => [SEPARATOR, item]);
    return Buffer.concat([LIST_START, ...parts.slice(1), LIST_END]);
  }
}

const LIST_START = Buffer.from("[");
const SEPARATOR = Buffer.from(",");
const LIST_END = Buffer.from("]");

/**
 * Parses the parameters of a JSON-RPC request. Objects and arrays for which `isRaw` returns true for their position or
 * name stay unparsed. Throws a `JsonParseError` for invalid JSON.
 */
export function parseParams(bytes: Buffer, isRaw: (key: number | string) => boolean): Params {
  const entries = entriesOf(bytes);
  if (entries === undefined) return parseMessage(bytes) as Params;
  const values = entries.map(({ key, start, end }): [number | string, unknown] => {
    const json = bytes.subarray(start, end);
    const isContainer = json[0] === OPENING_BRACE || json[0] === OPENING_BRACKET;
    return [key, isContainer && isRaw(key) ? new RawJson(json) : parseMessage(json)];
  });
  return bytes[0] === OPENING_BRACKET ? values.map(([, value]) => value) : Object.fromEntries(values);
}

interface Entry {
  key: number | string;
  start: number;
  end: number;
}

/** Returns the elements of an array or object, or undefined if it is invalid. */
function entriesOf(bytes: Buffer): Entry[] | undefined {
  const isArray = bytes[0] === OPENING_BRACKET;
  const end = bytes.length - 1;
  if (bytes[end] !== (isArray ? CLOSING_BRACKET : CLOSING_BRACE)) return undefined;
  const entries: Entry[] = [];
  let at = skipSpace(bytes, 1);
  while (at < end) {
    const key = isArray ? entries.length : nameAt(bytes, at);
    const start = isArray ? at : valueOfMember(bytes, at);
    const after = start === undefined ? undefined : endOfValue(bytes, start);
    if (key === undefined || start === undefined || after === undefined) return undefined;
    entries.push({ key, start, end: after });
    at = skipSpace(bytes, after);
    if (at < end && bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
  return at === end + 1 || entries.length === 0 ? entries : undefined;
}

function nameAt(bytes: Buffer, at: number): string | undefined {
  const after = bytes[at] === QUOTE ? endOfString(bytes, at) : undefined;
  return after === undefined ? undefined : (parseMessage(bytes.subarray(at, after)) as string);
}

function valueOfMember(bytes: Buffer, at: number): number | undefined {
  const colon = skipSpace(bytes, endOfString(bytes, at) ?? bytes.length);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : undefined;
}
