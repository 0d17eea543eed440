import {
  afterString,
  afterValue,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  skipSpace,
  skipSpaceBack,
  startOfString,
  startOfValue,
} from "../../json/json-bytes.ts";
import { UpstreamError } from "../exchange.ts";

export type Meta = Readonly<Record<string, unknown>>;

/** The value under `data`, and what stands beside it. */
export interface FoundData {
  readonly data: Buffer | AsyncIterable<Buffer>;
  /** That of a stream is complete when the stream has ended. */
  readonly meta: Meta;
}

/** What stands after `data` is found from behind, and is never as long as this. */
const LOOKED_BACK_BYTES = 2048;

/** What stands before `data` is never as long as this, nor nested deeper than can be written again. */
const MOST_BEFORE_DATA = 4096;

const CLOSING: ReadonlyMap<number, number> = new Map([
  [OPENING_BRACKET, CLOSING_BRACKET],
  [OPENING_BRACE, CLOSING_BRACE],
  [QUOTE, QUOTE],
]);

/** The value of the member `data` in the bytes of a JSON object, which is not looked into. */
export function findData(body: Buffer, upstream: string): { data: Buffer; meta: Meta } {
  const beginning = findBeginning(body, upstream);
  if (beginning === undefined) throw noData(upstream, CUT_OFF);
  const { start, before } = beginning;
  const { end, after } = findEnd(body, { start, first: body[start]!, upstream });
  return { data: body.subarray(start, end), meta: membersAround(before, after, upstream) };
}

/**
 * The same of a body that comes in pieces. All but the last of them are passed on as they are; rejects when `data` does not
 * begin.
 */
export async function openData(source: AsyncIterable<Buffer>, upstream: string): Promise<FoundData> {
  const chunks = source[Symbol.asyncIterator]();
  let read: Buffer = Buffer.alloc(0);
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done) return findData(read, upstream);
      read = read.length === 0 ? next.value : Buffer.concat([read, next.value]);
      const beginning = findBeginning(read, upstream);
      if (beginning !== undefined) {
        const meta = readMembers(beginning.before, "", upstream);
        return { data: new DataStream(read.subarray(beginning.start), chunks, { meta, upstream }), meta };
      }
      if (read.length > MOST_BEFORE_DATA) throw noData(upstream, TOO_LATE);
    }
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
}

const DATA = Buffer.from('"data"');

const CUT_OFF = "ends before its data does";
const TOO_LATE = `has no data within its first ${MOST_BEFORE_DATA} bytes`;

function noData(upstream: string, how: string, cause?: unknown): UpstreamError {
  return new UpstreamError(upstream, `What the upstream ${upstream} answered ${how}.`, { mayHaveArrived: true, cause });
}

/** An iterator by hand and not a generator, which would put off `return()` while it waits for a chunk. */
class DataStream implements AsyncIterableIterator<Buffer> {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #meta: Record<string, unknown>;
  readonly #upstream: string;
  readonly #first: number;
  /** The newest ones, of which those before the last bytes that are looked at can be passed on. */
  #held: Buffer[];
  #heldBytes: number;
  #hasPassed = false;
  #isOver = false;

  constructor(
    beginning: Buffer,
    chunks: AsyncIterator<Buffer>,
    { meta, upstream }: { meta: Record<string, unknown>; upstream: string },
  ) {
    this.#chunks = chunks;
    this.#meta = meta;
    this.#upstream = upstream;
    this.#first = beginning[0]!;
    this.#held = [beginning];
    this.#heldBytes = beginning.length;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (!this.#isOver) {
      const [oldest] = this.#held;
      if (oldest !== undefined && this.#heldBytes - oldest.length >= LOOKED_BACK_BYTES) {
        this.#held.shift();
        this.#heldBytes -= oldest.length;
        this.#hasPassed = true;
        return { done: false, value: oldest };
      }
      const next = await this.#chunks.next();
      if (next.done) return { done: false, value: this.#finish() };
      if (next.value.length === 0) continue;
      this.#held.push(next.value);
      this.#heldBytes += next.value.length;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.#isOver = true;
    this.#held = [];
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  #finish(): Buffer {
    this.#isOver = true;
    const rest = Buffer.concat(this.#held, this.#heldBytes);
    const start = this.#hasPassed ? undefined : 0;
    const { end, after } = findEnd(rest, { start, first: this.#first, upstream: this.#upstream });
    Object.assign(this.#meta, readMembers("", after, this.#upstream));
    return rest.subarray(0, end);
  }
}

/** Undefined when the bytes end before `data` begins. */
function findBeginning(bytes: Buffer, upstream: string): { start: number; before: string } | undefined {
  let at = skipSpace(bytes, 0);
  if (at === bytes.length) return undefined;
  if (bytes[at] !== OPENING_BRACE) throw noData(upstream, "is no JSON object");
  const firstMember = at + 1;
  for (;;) {
    const name = skipSpace(bytes, at + 1);
    const afterName = bytes[name] === QUOTE ? afterString(bytes, name) : undefined;
    if (afterName === undefined) {
      if (name >= bytes.length || bytes[name] === QUOTE) return undefined;
      throw noData(upstream, bytes[name] === CLOSING_BRACE ? "has no data" : "is no JSON");
    }
    const colon = skipSpace(bytes, afterName);
    if (colon === bytes.length) return undefined;
    if (bytes[colon] !== COLON) throw noData(upstream, "is no JSON");
    const start = skipSpace(bytes, colon + 1);
    if (start === bytes.length) return undefined;
    if (start > MOST_BEFORE_DATA) throw noData(upstream, TOO_LATE);
    if (afterName - name === DATA.length && isDataAt(bytes, name)) {
      return { start, before: bytes.toString("utf8", firstMember, at) };
    }
    const end = afterValue(bytes, start);
    if (end === undefined) return undefined;
    at = skipSpace(bytes, end);
    if (at === bytes.length) return undefined;
    if (bytes[at] !== COMMA) throw noData(upstream, bytes[at] === CLOSING_BRACE ? "has no data" : "is no JSON");
  }
}

/** Without a call out of JavaScript, which would take longer. */
function isDataAt(bytes: Buffer, from: number): boolean {
  for (let at = 0; at < DATA.length; at++) if (bytes[from + at] !== DATA[at]) return false;
  return true;
}

interface BegunData {
  /** Its place in the bytes at hand, unless it begins before them. */
  start: number | undefined;
  /** Its first byte. */
  first: number;
  upstream: string;
}

/** Where `data` ends, and the members after it, found from behind. */
function findEnd(bytes: Buffer, { start, first, upstream }: BegunData): { end: number; after: string } {
  const from = Math.max(0, bytes.length - LOOKED_BACK_BYTES);
  const isAtHand = start !== undefined && start >= from;
  const closing = skipSpaceBack(bytes, bytes.length - 1);
  let at = closing;
  if (bytes[at] !== CLOSING_BRACE) throw noData(upstream, CUT_OFF);
  for (;;) {
    const last = skipSpaceBack(bytes, at - 1);
    const value = last < from ? undefined : startOfValue(bytes, last, from);
    if (value === undefined ? !isAtHand : isAtHand && value === start) {
      const expected = CLOSING.get(first);
      if (last < (start ?? from) || (expected !== undefined && bytes[last] !== expected)) {
        throw noData(upstream, CUT_OFF);
      }
      return { end: last + 1, after: bytes.toString("utf8", last + 1, closing) };
    }
    const colon = value === undefined ? -1 : skipSpaceBack(bytes, value - 1);
    const nameEnd = colon < from || bytes[colon] !== COLON ? -1 : skipSpaceBack(bytes, colon - 1);
    const name = nameEnd < from || bytes[nameEnd] !== QUOTE ? undefined : startOfString(bytes, nameEnd, from);
    at = name === undefined ? -1 : skipSpaceBack(bytes, name - 1);
    if (at < from || bytes[at] !== COMMA) throw noData(upstream, CUT_OFF);
  }
}

/** Most answers have the same beside their data: so many are known at a time. */
const MOST_KNOWN = 64;
const known = new Map<string, Meta>();

/** What stands before and after `data`: the same object as long as it is known. */
function membersAround(before: string, after: string, upstream: string): Meta {
  // No JSON has such a character in it.
  const text = `${before}\0${after}`;
  let meta = known.get(text);
  if (meta === undefined) {
    meta = readMembers(before, after, upstream);
    if (known.size === MOST_KNOWN) known.clear();
    known.set(text, meta);
  }
  return meta;
}

/** The same read; what is after `data` comes with the comma that is before it. */
function readMembers(before: string, after: string, upstream: string): Record<string, unknown> {
  const first = before.trim();
  const second = after.trimStart().slice(1);
  if (first === "" && second === "") return {};
  let meta: Record<string, unknown>;
  try {
    meta = JSON.parse(`{${first}${first !== "" && second !== "" ? "," : ""}${second}}`);
  } catch (cause) {
    throw noData(upstream, "has something beside its data that is no JSON", cause);
  }
  if (Object.hasOwn(meta, "data")) throw noData(upstream, "has data twice");
  return meta;
}
