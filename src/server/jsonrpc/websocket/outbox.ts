import type { WebSocket } from "ws";
import { releaseBuffer } from "../../../json/buffer-pool.ts";
import { BUFFERED_FROM_BYTES, type BudgetReservation, PIECE_OVERHEAD_BYTES } from "../../http/request/byte-budget.ts";
import type { MessageResponse } from "../execute.ts";

/** Messages up to this size are written as a single frame. Larger ones are written in fragments with backpressure. */
const FRAGMENT_BYTES = 256 * 1024;

/**
 * A connection's send queue. A fragmented message delays later messages, since WebSocket does not interleave fragments.
 */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #unread: BudgetReservation;
  /** Writes waiting for the current fragmented message. Undefined if there is none. */
  #queued: (() => void)[] | undefined;
  #eventBytes = 0;
  #flushes = 0;

  /** `unread` accounts for bytes in the socket buffer. */
  constructor(socket: WebSocket, unread: BudgetReservation) {
    this.#socket = socket;
    this.#unread = unread;
  }

  /** Bytes of events in the socket buffer. */
  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** Number of completed writes, which grows as long as the client is reading. */
  get flushes(): number {
    return this.#flushes;
  }

  /**
   * Sends an event. Returns false if the memory limit for unread data has been reached. Clients with little unread data
   * are exempt from this limit.
   */
  sendEvent(message: Buffer): boolean {
    const bytes = message.length + PIECE_OVERHEAD_BYTES;
    const isHeld = this.#eventBytes + message.length >= BUFFERED_FROM_BYTES;
    if (isHeld && !this.#unread.reserve(bytes)) return false;
    this.#eventBytes += message.length;
    this.#enqueue(() => {
      void this.#write(message, true).then(() => {
        this.#eventBytes -= message.length;
        if (isHeld) this.#unread.release(bytes);
      });
    });
    return true;
  }

  /** Sends a message regardless of the memory limit. */
  sendNotice(message: Buffer): void {
    this.#enqueue(() => void this.#write(message, true));
  }

  /** Closes the connection once all queued messages have been sent. */
  close(code: number, reason: string): void {
    this.#enqueue(() => this.#socket.close(code, reason));
  }

  /**
   * Sends a response, whose position in the queue is fixed when this method returns. Resolves when the response has
   * been written or the connection is closed. Rejects if a streamed result fails, which leaves its message incomplete.
   * Returns undefined if the memory limit for unread data has been reached.
   */
  sendResponse({ body }: MessageResponse): Promise<void> | undefined {
    const length = Array.isArray(body) ? body.reduce((sum, part) => sum + part.length, 0) : 0;
    const bytes = length < BUFFERED_FROM_BYTES ? 0 : length;
    if (!this.#unread.reserve(bytes)) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#enqueue(() => {
      const message = Array.isArray(body) && length <= FRAGMENT_BYTES ? concat(body) : undefined;
      const sending = message
        ? this.#write(message, true)
        : this.#writeFragments(Array.isArray(body) ? splitIntoFragments(body) : body);
      sending.then(resolve, reject);
    });
    return promise.finally(() => this.#unread.release(bytes));
  }

  #enqueue(write: () => void): void {
    if (this.#queued) this.#queued.push(write);
    else write();
  }

  async #writeFragments(fragments: AsyncIterableIterator<Buffer> | IterableIterator<Buffer>): Promise<void> {
    this.#queued = [];
    const stop = () => void fragments.return?.();
    this.#socket.once("close", stop);
    try {
      for await (const fragment of fragments) {
        if (this.#socket.readyState !== this.#socket.OPEN) return;
        await this.#write(fragment, false);
      }
      await this.#write(Buffer.alloc(0), true);
    } finally {
      this.#socket.off("close", stop);
      this.#release();
    }
  }

  #release(): void {
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    // A queued write may start another fragmented message.
    for (const write of queued) this.#enqueue(write);
  }

  /** Writes a frame. Never rejects, since an error means that the client has disconnected. */
  #write(data: Buffer, fin: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(data, { binary: false, fin }, (error) => {
        if (!error) {
          this.#flushes++;
          releaseBuffer(data);
        }
        resolve();
      });
    });
  }
}

function concat(parts: Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function* splitIntoFragments(parts: Buffer[]): Generator<Buffer, undefined> {
  for (const part of parts) {
    for (let start = 0; start < part.length; start += FRAGMENT_BYTES)
      yield part.subarray(start, start + FRAGMENT_BYTES);
  }
}
