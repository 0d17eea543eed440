/** What an upstream did instead of answering in HTTP, as the rest of a sentence about it. */
export class HttpError extends Error {}

/** Whoever is told of an answer while it comes. */
export interface ResponseSink {
  /** Of the final answer, not of those that only announce it. Headers are by lower case name. */
  onHead(status: number, headers: Readonly<Record<string, string>>): void;
  /** More of the body, in memory that is used again as soon as this returns. */
  onBody(bytes: Buffer): void;
}

/** No node sends so much before a body, nor after one that is chunked. */
const MAX_HEAD_BYTES = 32 * 1024;
/** Nobody who means to answer announces it so often. */
const MAX_ANNOUNCEMENTS = 16;
/** The size of a chunk with what some proxies write behind it. */
const MAX_SIZE_LINE_BYTES = 1024;
const MAX_SIZE_DIGITS = 12;
/** How long a connection may be idle where the upstream does not say. */
const IDLE_MILLIS = 4000;
const MAX_IDLE_MILLIS = 600_000;
/** So much sooner than the upstream, so that no request goes out while it closes. */
const IDLE_MARGIN_MILLIS = 1000;

const HEAD_END = "\r\n\r\n";
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?![^ \r])/;
/** A line break that is none, or a character that no header may have. */
const FORBIDDEN = /\r(?!\n)|[^\r]\n|[^\t\n\r\x20-\x7e\x80-\xff]/;
const LONE_LF = /[^\r]\n/;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const CONTENT_LENGTH = /^\d{1,15}$/;

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const SEMICOLON = 0x3b;

/** What comes next. */
type Expected =
  | "nothing"
  | "head"
  | "counted"
  | "until close"
  | "size"
  | "size end"
  | "chunk"
  | "chunk end"
  | "trailers";

/** Reads the answers that come on one connection, strictly: what is not clearly HTTP ends it. */
export class ResponseParser {
  #expected: Expected = "nothing";
  #sink: ResponseSink | undefined;
  /** A head that has not come whole. */
  #head: Buffer | undefined;
  #headBytes = 0;
  /** How many heads have come of an answer that only announce it. */
  #announcements = 0;
  /** Of the body, or of the chunk that it is in. */
  #left = 0;
  #sizeDigits = 0;
  /** Of a line with a size, or of all trailers. */
  #lineBytes = 0;
  #lineLength = 0;
  #isAfterCr = false;
  #keepsAlive = false;
  #idleMillis = IDLE_MILLIS;
  #idleHint: string | undefined;

  /** From now on an answer is expected. */
  begin(sink: ResponseSink): void {
    this.#sink = sink;
    this.#expected = "head";
    this.#headBytes = 0;
    this.#announcements = 0;
  }

  get isComplete(): boolean {
    return this.#expected === "nothing";
  }

  /** Whether the connection can be used again after the answer. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  /** How long the connection may be idle before it is better not used any more. */
  get idleMillis(): number {
    return this.#idleMillis;
  }

  /** How many of the bytes belong to the answer. Throws an `HttpError` for what is none. The bytes may be moved. */
  read(bytes: Buffer): number {
    let at = 0;
    while (this.#expected === "head") {
      if (at === bytes.length) return at;
      at += this.#readHead(at === 0 ? bytes : bytes.subarray(at));
    }
    if (at === bytes.length) return at;
    switch (this.#expected) {
      case "nothing":
        return at;
      case "counted":
        return this.#readCounted(bytes, at);
      case "until close":
        this.#sink!.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      default:
        return this.#readChunks(bytes, at);
    }
  }

  /** Whether the body goes on until the upstream closes the connection. */
  get endsWithConnection(): boolean {
    return this.#expected === "until close";
  }

  /** Gives how many of the bytes are of the head. */
  #readHead(bytes: Buffer): number {
    if (this.#headBytes === 0) {
      const end = bytes.indexOf(HEAD_END, 0, "latin1");
      if (end !== -1 && end <= MAX_HEAD_BYTES) {
        this.#takeHead(bytes.toString("latin1", 0, end));
        return end + HEAD_END.length;
      }
    }
    const before = this.#headBytes;
    this.#head ??= Buffer.allocUnsafe(MAX_HEAD_BYTES);
    const copied = bytes.copy(this.#head, before);
    this.#headBytes += copied;
    const head = this.#head.subarray(0, this.#headBytes);
    const end = head.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1), "latin1");
    if (end === -1) {
      if (this.#headBytes === MAX_HEAD_BYTES) throw noHttp(`its head has more than ${MAX_HEAD_BYTES} bytes`);
      // What begins otherwise need not be waited for, nor the end of a head whose lines end otherwise.
      if (!"HTTP/1.".startsWith(head.toString("latin1", 0, Math.min(7, head.length)))) throw noHttp(NO_STATUS);
      if (LONE_LF.test(head.toString("latin1", Math.max(0, before - 1)))) throw noHttp(BAD_CHARACTERS);
      return copied;
    }
    this.#headBytes = 0;
    this.#takeHead(head.toString("latin1", 0, end));
    return end + HEAD_END.length - before;
  }

  #takeHead(text: string): void {
    const head = headOf(text);
    if (head.idleHint !== undefined) this.#takeIdleHint(head.idleHint);
    if (head.status < 200) {
      if (++this.#announcements > MAX_ANNOUNCEMENTS) throw noHttp("it announces an answer again and again");
      return;
    }
    this.#expected = head.expected;
    this.#left = head.length;
    if (head.expected === "size") this.#beginSize();
    this.#keepsAlive = head.keepsAlive;
    this.#sink!.onHead(head.status, head.headers);
  }

  #takeIdleHint(hint: string): void {
    // It is the same in all answers.
    if (hint === this.#idleHint) return;
    this.#idleHint = hint;
    const seconds = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i.exec(hint)?.[1];
    this.#idleMillis =
      seconds === undefined ? IDLE_MILLIS : Math.min(Number(seconds) * 1000 - IDLE_MARGIN_MILLIS, MAX_IDLE_MILLIS);
  }

  #readCounted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#expected = "nothing";
    this.#sink!.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  /** What of the body is in the bytes is moved together, so that it is one piece. */
  #readChunks(bytes: Buffer, start: number): number {
    let at = start;
    let from = start;
    let to = start;
    while (at < bytes.length && this.#expected !== "nothing") {
      if (this.#expected !== "chunk") {
        this.#readBetweenChunks(bytes[at++]!);
        continue;
      }
      const end = Math.min(bytes.length, at + this.#left);
      if (from === to) {
        from = at;
        to = end;
      } else {
        bytes.copyWithin(to, at, end);
        to += end - at;
      }
      this.#left -= end - at;
      if (this.#left === 0) this.#expected = "chunk end";
      at = end;
    }
    if (to > from) this.#sink!.onBody(bytes.subarray(from, to));
    return at;
  }

  #beginSize(): void {
    this.#left = 0;
    this.#sizeDigits = 0;
    this.#lineBytes = 0;
    this.#isAfterCr = false;
  }

  #readBetweenChunks(byte: number): void {
    if (this.#isAfterCr) {
      if (byte !== LF) throw noHttp(BAD_CHUNKS);
      this.#isAfterCr = false;
      this.#endLine();
      return;
    }
    if (byte === CR) {
      this.#isAfterCr = true;
      return;
    }
    if (byte === LF || (byte < SPACE && byte !== TAB) || this.#expected === "chunk end") throw noHttp(BAD_CHUNKS);
    this.#lineBytes++;
    this.#lineLength++;
    if (this.#expected === "size") this.#readSize(byte);
    const most = this.#expected === "trailers" ? MAX_HEAD_BYTES : MAX_SIZE_LINE_BYTES;
    if (this.#lineBytes > most) throw noHttp(BAD_CHUNKS);
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== undefined && this.#sizeDigits < MAX_SIZE_DIGITS) {
      this.#left = this.#left * 16 + digit;
      this.#sizeDigits++;
    } else if (this.#sizeDigits > 0 && (byte === SEMICOLON || byte === SPACE || byte === TAB)) {
      this.#expected = "size end";
    } else throw noHttp(BAD_CHUNKS);
  }

  #endLine(): void {
    switch (this.#expected) {
      case "size":
      case "size end":
        if (this.#sizeDigits === 0) throw noHttp(BAD_CHUNKS);
        this.#expected = this.#left === 0 ? "trailers" : "chunk";
        this.#lineBytes = 0;
        break;
      case "chunk end":
        this.#beginSize();
        this.#expected = "size";
        break;
      case "trailers":
        if (this.#lineLength === 0) this.#expected = "nothing";
    }
    this.#lineLength = 0;
  }
}

const NO_STATUS = "it does not begin with a status";
const BAD_CHARACTERS = "its head has characters in it that may not be there";
const BAD_CHUNKS = "its chunks are not as they have to be";

function noHttp(what: string): HttpError {
  return new HttpError(`cannot be asked: what it answers is no HTTP, since ${what}`);
}

/** All that the head of an answer says. */
interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What comes after it. */
  readonly expected: Expected;
  /** Of a body that is counted. */
  readonly length: number;
  readonly keepsAlive: boolean;
  readonly idleHint: string | undefined;
}

/** Most heads differ in nothing from others that came before, but now and then in the length and the second: so many are known at a time. */
const MOST_KNOWN = 256;
const LONGEST_KNOWN = 1024;
const known = new Map<string, Head>();

/** Throws an `HttpError` for what is none. */
function headOf(text: string): Head {
  const before = known.get(text);
  if (before !== undefined) return before;
  const head = readHead(text);
  if (text.length > LONGEST_KNOWN) return head;
  if (known.size === MOST_KNOWN) known.clear();
  known.set(text, head);
  return head;
}

function readHead(text: string): Head {
  const first = STATUS_LINE.exec(text);
  if (first === null) throw noHttp(NO_STATUS);
  if (FORBIDDEN.test(text)) throw noHttp(BAD_CHARACTERS);
  const isOld = first[1] === "0";
  const status = Number(first[2]);
  const headers: Record<string, string> = {};
  let connection = "";
  let transferEncoding: string | undefined;
  let idleHint: string | undefined;
  for (let at = lineEnd(text, 0) + 2; at < text.length; ) {
    const end = lineEnd(text, at);
    const colon = text.indexOf(":", at);
    if (colon === -1 || colon > end) throw noHttp("a line of its head is no header");
    const name = lowerCaseName(text.slice(at, colon));
    const value = trimmed(text, colon + 1, end);
    at = end + 2;
    switch (name) {
      case "connection":
        connection = `${connection},${value.toLowerCase()}`;
        break;
      case "transfer-encoding":
        if (transferEncoding !== undefined) throw noHttp("it says twice how its body is sent");
        transferEncoding = value.toLowerCase();
        break;
      case "content-length":
        if (headers[name] !== undefined) throw noHttp("it says twice how long it is");
        headers[name] = value;
        break;
      case "keep-alive":
        idleHint = value;
        break;
      case "proxy-connection":
      case "set-cookie":
      case "trailer":
      case "upgrade":
        // They concern a single connection, or are nobody's business but the gateway's.
        break;
      default:
        headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
    }
  }
  if (status === 101) throw noHttp("it speaks another protocol, which it was not asked for");
  const says = (word: string) => connection.split(/[ \t]*,[ \t]*/).includes(word);
  const expected = status < 200 ? "head" : bodyOf(status, headers["content-length"], transferEncoding, isOld);
  const keepsAlive =
    expected !== "until close" && (connection === "" ? !isOld : isOld ? says("keep-alive") : !says("close"));
  return { status, headers, expected, length: Number(headers["content-length"] ?? 0), keepsAlive, idleHint };
}

function bodyOf(
  status: number,
  contentLength: string | undefined,
  transferEncoding: string | undefined,
  isOld: boolean,
): Expected {
  if (transferEncoding !== undefined) {
    if (contentLength !== undefined) throw noHttp("it says in two ways how long it is");
    if (transferEncoding !== "chunked" || isOld) throw noHttp("its body is sent in a way that is not known");
  } else if (contentLength !== undefined && !CONTENT_LENGTH.test(contentLength)) {
    throw noHttp("its length is no number");
  }
  if (status === 204 || status === 304) return "nothing";
  if (transferEncoding !== undefined) return "size";
  if (contentLength === undefined) return "until close";
  return Number(contentLength) === 0 ? "nothing" : "counted";
}

/** Where a line ends that begins there. */
function lineEnd(head: string, at: number): number {
  const end = head.indexOf("\r\n", at);
  return end === -1 ? head.length : end;
}

function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

const isSpace = (code: number) => code === SPACE || code === TAB;

function hexDigit(byte: number): number | undefined {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? undefined : digit;
}

/** Upstreams send the same ones all the time. */
const MOST_NAMES = 256;
const names = new Map<string, string>();

function lowerCaseName(written: string): string {
  const known = names.get(written);
  if (known !== undefined) return known;
  if (!TOKEN.test(written)) throw noHttp("a line of its head is no header");
  const name = written.toLowerCase();
  if (names.size < MOST_NAMES) names.set(written, name);
  return name;
}
