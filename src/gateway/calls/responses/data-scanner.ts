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
  skipSpaceBack,
  startOfString,
  startOfValue,
} from "../../../json/value-bounds.ts";
import { UpstreamError } from "../../upstream/upstream-call.ts";
import { TailStream } from "./tail-stream.ts";

export type Metadata = Readonly<Record<string, unknown>>;

/** The value of `data`, and the other members. */
export interface FoundData {
  readonly data: Buffer | AsyncIterable<Buffer>;
  /** For a stream, complete only when it has ended. */
  readonly meta: Metadata;
}

/** Members after `data` are found by scanning backward, and are shorter than this. */
export const TAIL_BYTES = 2048;

/** Members before `data` are shorter than this. */
export const MAX_BYTES_BEFORE_DATA = 4096;

const CLOSING: ReadonlyMap<number, number> = new Map([
  [OPENING_BRACKET, CLOSING_BRACKET],
  [OPENING_BRACE, CLOSING_BRACE],
  [QUOTE, QUOTE],
]);

/** Finds the member `data` in a JSON object without parsing its value. */
export function findData(body: Buffer, upstream: string): { data: Buffer; meta: Metadata } {
  const dataStart = findDataStart(body, upstream);
  if (dataStart === undefined) throw invalidBody(upstream, TRUNCATED);
  const { start, before } = dataStart;
  const { end, after } = findDataEnd(body, { start, first: body[start]!, upstream });
  return { data: body.subarray(start, end), meta: cachedMembers(before, after, upstream) };
}

/**
 * The streaming form of `findData`. Forwards all chunks but the last unchanged. Rejects if `data` is not found near the
 * start.
 */
export async function streamData(source: AsyncIterable<Buffer>, upstream: string): Promise<FoundData> {
  const chunks = source[Symbol.asyncIterator]();
  let read: Buffer = Buffer.alloc(0);
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done) return findData(read, upstream);
      read = read.length === 0 ? next.value : Buffer.concat([read, next.value]);
      const dataStart = findDataStart(read, upstream);
      if (dataStart !== undefined) {
        const meta = readMembers(dataStart.before, "", upstream);
        const first = read[dataStart.start]!;
        const finish = (rest: Buffer, passedBytes: number) => {
          const start = passedBytes === 0 ? 0 : undefined;
          const { end, after } = findDataEnd(rest, { start, first, upstream });
          Object.assign(meta, readMembers("", after, upstream));
          return rest.subarray(0, end);
        };
        return {
          data: new TailStream(read.subarray(dataStart.start), chunks, { tailBytes: TAIL_BYTES, finish }),
          meta,
        };
      }
      if (read.length > MAX_BYTES_BEFORE_DATA) throw invalidBody(upstream, TOO_LATE);
    }
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
}

/** The ends of a body. */
interface BodyEnds {
  start: Buffer;
  rest: Buffer;
  /** Number of bytes before `rest`. */
  passedBytes: number;
  /** True if the body is an object with the member `data`. */
  isWrapped: boolean;
}

/** Throws an `UpstreamError` if a body is truncated. */
export function checkBodyEnd({ start: bodyStart, rest, passedBytes, isWrapped }: BodyEnds, upstream: string): void {
  const opening = bodyStart[skipSpace(bodyStart, 0)];
  const dataStart = isWrapped ? findDataStart(bodyStart, upstream) : undefined;
  if (dataStart !== undefined) {
    const start = passedBytes === 0 ? dataStart.start : undefined;
    findDataEnd(rest, { start, first: bodyStart[dataStart.start]!, upstream });
  } else if (rest[skipSpaceBack(rest, rest.length - 1)] !== CLOSING.get(opening ?? 0)) {
    throw invalidBody(upstream, TRUNCATED);
  }
}

const DATA = Buffer.from('"data"');

const TRUNCATED = "is truncated";
const TOO_LATE = `has no member "data" within its first ${MAX_BYTES_BEFORE_DATA} bytes`;

function invalidBody(upstream: string, how: string, cause?: unknown): UpstreamError {
  const options = { mayHaveArrived: true, isInvalidResponse: true, cause };
  return new UpstreamError(upstream, `The answer of upstream ${upstream} ${how}.`, options);
}

/** Returns undefined if more bytes are needed. */
function findDataStart(bytes: Buffer, upstream: string): { start: number; before: string } | undefined {
  let at = skipSpace(bytes, 0);
  if (at === bytes.length) return undefined;
  if (bytes[at] !== OPENING_BRACE) throw invalidBody(upstream, "is not a JSON object");
  const firstMember = at + 1;
  for (;;) {
    const name = skipSpace(bytes, at + 1);
    const afterName = bytes[name] === QUOTE ? endOfString(bytes, name) : undefined;
    if (afterName === undefined) {
      if (name >= bytes.length || bytes[name] === QUOTE) return undefined;
      throw invalidBody(upstream, bytes[name] === CLOSING_BRACE ? 'has no member "data"' : "is not valid JSON");
    }
    const colon = skipSpace(bytes, afterName);
    if (colon === bytes.length) return undefined;
    if (bytes[colon] !== COLON) throw invalidBody(upstream, "is not valid JSON");
    const start = skipSpace(bytes, colon + 1);
    if (start === bytes.length) return undefined;
    if (start > MAX_BYTES_BEFORE_DATA) throw invalidBody(upstream, TOO_LATE);
    if (afterName - name === DATA.length && isDataAt(bytes, name)) {
      return { start, before: bytes.toString("utf8", firstMember, at) };
    }
    const end = endOfValue(bytes, start);
    if (end === undefined) return undefined;
    at = skipSpace(bytes, end);
    if (at === bytes.length) return undefined;
    if (bytes[at] !== COMMA)
      throw invalidBody(upstream, bytes[at] === CLOSING_BRACE ? 'has no member "data"' : "is not valid JSON");
  }
}

/** Avoids a native call, which is slower. */
function isDataAt(bytes: Buffer, from: number): boolean {
  for (let at = 0; at < DATA.length; at++) if (bytes[from + at] !== DATA[at]) return false;
  return true;
}

interface DataStart {
  /** Offset in the available bytes. Undefined if it is before them. */
  start: number | undefined;
  first: number;
  upstream: string;
}

/** Finds the end of `data` and the members after it, scanning backward. */
function findDataEnd(bytes: Buffer, { start, first, upstream }: DataStart): { end: number; after: string } {
  const from = Math.max(0, bytes.length - TAIL_BYTES);
  const isAtHand = start !== undefined && start >= from;
  const closing = skipSpaceBack(bytes, bytes.length - 1);
  let at = closing;
  if (bytes[at] !== CLOSING_BRACE) throw invalidBody(upstream, TRUNCATED);
  for (;;) {
    const last = skipSpaceBack(bytes, at - 1);
    const value = last < from ? undefined : startOfValue(bytes, last, from);
    if (value === undefined ? !isAtHand : isAtHand && value === start) {
      const expected = CLOSING.get(first);
      if (last < (start ?? from) || (expected !== undefined && bytes[last] !== expected)) {
        throw invalidBody(upstream, TRUNCATED);
      }
      return { end: last + 1, after: bytes.toString("utf8", last + 1, closing) };
    }
    const colon = value === undefined ? -1 : skipSpaceBack(bytes, value - 1);
    const nameEnd = colon < from || bytes[colon] !== COLON ? -1 : skipSpaceBack(bytes, colon - 1);
    const name = nameEnd < from || bytes[nameEnd] !== QUOTE ? undefined : startOfString(bytes, nameEnd, from);
    at = name === undefined ? -1 : skipSpaceBack(bytes, name - 1);
    if (at < from || bytes[at] !== COMMA) throw invalidBody(upstream, TRUNCATED);
  }
}

/** Most responses have the same metadata, so a few parsed objects are cached. */
const MAX_METADATA_ENTRIES = 64;
const metadataCache = new Map<string, Metadata>();

/** Parses the members before and after `data`. Returns the same object for the same text. */
function cachedMembers(before: string, after: string, upstream: string): Metadata {
  // NUL does not occur in JSON.
  const text = `${before}\0${after}`;
  let meta = metadataCache.get(text);
  if (meta === undefined) {
    meta = readMembers(before, after, upstream);
    if (metadataCache.size === MAX_METADATA_ENTRIES) metadataCache.clear();
    metadataCache.set(text, meta);
  }
  return meta;
}

/** `after` starts with a comma. */
function readMembers(before: string, after: string, upstream: string): Record<string, unknown> {
  const first = before.trim();
  const second = after.trimStart().slice(1);
  if (first === "" && second === "") return {};
  let meta: Record<string, unknown>;
  try {
    meta = JSON.parse(`{${first}${first !== "" && second !== "" ? "," : ""}${second}}`);
  } catch (cause) {
    throw invalidBody(upstream, 'has invalid JSON outside of "data"', cause);
  }
  if (Object.hasOwn(meta, "data")) throw invalidBody(upstream, 'has the member "data" twice');
  return meta;
}
