import { OperationalError } from "../../errors/operational-error.ts";
import type { StreamEvent } from "../../server/events/feed.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
/** JSON has line breaks only where a space means the same, and with a space one line holds it. */
const BETWEEN_LINES = Buffer.from(" ");

/** The largest event is a slashing of all validators of a slot, twice. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** About what it takes to hold one line of data, besides its bytes. */
const LINE_OVERHEAD_BYTES = 128;
const EMPTY = Buffer.alloc(0);
/** What Lighthouse writes into the stream of a reader that is too slow for it, and goes on. */
const DROPPED = /\bdropped (\d+) messages?\b/i;
/** So much is read of a comment. */
const COMMENT_BYTES = 128;

/** Reads events from text/event-stream (HTML standard, section 9.2.6), however it is cut into chunks. */
export class SseParser {
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #maxBytes: number;
  /** Begins with what has come of a line that has not ended, which is mostly less. */
  #line = EMPTY;
  #lineLength = 0;
  #topic = "";
  #data: Buffer[] = [];
  /** What is held of the event that has not ended, but for that line. */
  #bytes = 0;
  #isFirstLine = true;
  #wasCarriageReturn = false;

  constructor(onEvent: (event: StreamEvent) => void, maxBytes = MAX_EVENT_BYTES) {
    this.#onEvent = onEvent;
    this.#maxBytes = maxBytes;
  }

  /** Throws when an event is too large, or a comment says that events are missing. */
  push(chunk: Buffer): void {
    let start = this.#wasCarriageReturn && chunk[0] === LINE_FEED ? 1 : 0;
    if (chunk.length > 0) this.#wasCarriageReturn = false;
    let carriageReturn = chunk.indexOf(CARRIAGE_RETURN, start);
    while (start < chunk.length) {
      if (carriageReturn !== -1 && carriageReturn < start) carriageReturn = chunk.indexOf(CARRIAGE_RETURN, start);
      const lineFeed = chunk.indexOf(LINE_FEED, start);
      const end = carriageReturn === -1 || (lineFeed !== -1 && lineFeed < carriageReturn) ? lineFeed : carriageReturn;
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      if (this.#bytes + this.#lineLength + piece.length > this.#maxBytes) {
        throw new RangeError(`An event is larger than ${this.#maxBytes} bytes.`);
      }
      if (end === -1) {
        this.#addToLine(piece);
        return;
      }
      this.#endLine(this.#lineEndingWith(piece));
      start = end + 1;
      if (chunk[end] !== CARRIAGE_RETURN) continue;
      if (start === chunk.length) this.#wasCarriageReturn = true;
      else if (chunk[start] === LINE_FEED) start++;
    }
  }

  /** However small the pieces are, they take no more memory than twice their bytes. */
  #addToLine(piece: Buffer): void {
    const length = this.#lineLength + piece.length;
    if (length > this.#line.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#line.length));
      this.#line.copy(larger, 0, 0, this.#lineLength);
      this.#line = larger;
    }
    piece.copy(this.#line, this.#lineLength);
    this.#lineLength = length;
  }

  #lineEndingWith(piece: Buffer): Buffer {
    if (this.#lineLength === 0) return piece;
    this.#addToLine(piece);
    const line = this.#line.subarray(0, this.#lineLength);
    this.#line = EMPTY;
    this.#lineLength = 0;
    return line;
  }

  #endLine(whole: Buffer): void {
    let line = whole;
    if (this.#isFirstLine && line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
      line = line.subarray(BYTE_ORDER_MARK.length);
    }
    this.#isFirstLine = false;
    if (line.length === 0) this.#endEvent();
    else this.#readField(line);
  }

  #readField(line: Buffer): void {
    const colon = line.indexOf(COLON);
    if (colon === 0) readComment(line);
    const name = line.toString("latin1", 0, colon === -1 ? line.length : colon);
    const valueAt = colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    if (name === "event") this.#topic = line.toString("utf8", valueAt);
    if (name !== "data") return;
    this.#bytes += line.length - valueAt + LINE_OVERHEAD_BYTES;
    if (this.#data.length > 0) this.#data.push(BETWEEN_LINES);
    this.#data.push(line.subarray(valueAt));
  }

  #endEvent(): void {
    // A copy: what the socket was read into is larger by far, and events may be kept.
    const event = { topic: this.#topic || "message", data: Buffer.concat(this.#data) };
    this.#topic = "";
    this.#data = [];
    this.#bytes = 0;
    if (event.data.length > 0) this.#onEvent(event);
  }
}

function readComment(line: Buffer): void {
  const [, count] = DROPPED.exec(line.toString("latin1", 0, COMMENT_BYTES)) ?? [];
  if (count) throw new OperationalError(`It says that it dropped ${count} messages of the stream of events.`);
}
