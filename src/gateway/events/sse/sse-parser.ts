import { OperationalError } from "../../../errors/operational-error.ts";
import type { StreamEvent } from "../../../server/events/feed.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
/** Joins data lines with a space instead of a line break: JSON allows either, and one line suffices. */
const LINE_SEPARATOR = Buffer.from(" ");

/** Size of a slashing of all validators of a slot, in JSON. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Approximate memory overhead of a data line. */
const LINE_OVERHEAD_BYTES = 128;
const EMPTY = Buffer.alloc(0);
/** Comment that Lighthouse sends to a slow reader before it continues. */
const DROPPED = /\bdropped (\d+) messages?\b/i;
/** How much of a comment is read. */
const COMMENT_BYTES = 128;

/** Parses text/event-stream (HTML Standard, section 9.2.6), in chunks of any size. */
export class SseParser {
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #maxBytes: number;
  /** Buffer for an incomplete line. Usually longer than the line. */
  #line = EMPTY;
  #lineLength = 0;
  #topic = "";
  #data: Buffer[] = [];
  /** Bytes held of the incomplete event, without that line. */
  #bytes = 0;
  #isFirstLine = true;
  #wasCarriageReturn = false;

  constructor(onEvent: (event: StreamEvent) => void, maxBytes = MAX_EVENT_BYTES) {
    this.#onEvent = onEvent;
    this.#maxBytes = maxBytes;
  }

  /** Throws if an event is too large, or if a comment reports dropped events. */
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

  /** Doubles the buffer, so that small chunks take at most twice their size. */
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

  #endLine(lineWithMark: Buffer): void {
    let line = lineWithMark;
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
    if (this.#data.length > 0) this.#data.push(LINE_SEPARATOR);
    this.#data.push(line.subarray(valueAt));
  }

  #endEvent(): void {
    // Copied, because the socket buffer is much larger and events may be kept.
    const event = { topic: this.#topic || "message", data: Buffer.concat(this.#data) };
    this.#topic = "";
    this.#data = [];
    this.#bytes = 0;
    if (event.data.length > 0) this.#onEvent(event);
  }
}

function readComment(line: Buffer): void {
  const [, count] = DROPPED.exec(line.toString("latin1", 0, COMMENT_BYTES)) ?? [];
  if (count) throw new OperationalError(`It reported that it dropped ${count} events.`);
}
