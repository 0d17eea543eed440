import type { WebSocket } from "ws";
import { releaseBuffer } from "../../../json/buffer-pool.ts";
import { type BudgetShare, HELD_FROM_BYTES, PIECE_OVERHEAD_BYTES } from "../../http/exchanges.ts";
import type { MessageResponse } from "../execute.ts";

/** A message up to this size is written at once; a larger one piece by piece, at the pace at which its reader takes them. */
const PIECE_BYTES = 256 * 1024;

/**
 * Everything that goes out on one connection, in order. A message that is sent in pieces holds up those after it, since
 * WebSocket does not mix the pieces of messages.
 */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #unread: BudgetShare;
  /** What may go when the message under way is complete; undefined when none is. */
  #held: (() => void)[] | undefined;
  #eventBytes = 0;
  #flushes = 0;

  /** `unread` is for what the operating system has not taken yet. */
  constructor(socket: WebSocket, unread: BudgetShare) {
    this.#socket = socket;
    this.#unread = unread;
  }

  /** How much of the events the operating system has not taken yet. */
  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** How many writes the operating system has taken so far; as long as this grows, somebody reads. */
  get flushes(): number {
    return this.#flushes;
  }

  /** False when clients have left so much unread that there is no room for it; who is hardly behind gets it all the same. */
  event(message: Buffer): boolean {
    const bytes = message.length + PIECE_OVERHEAD_BYTES;
    const isHeld = this.#eventBytes + message.length >= HELD_FROM_BYTES;
    if (isHeld && !this.#unread.take(bytes)) return false;
    this.#eventBytes += message.length;
    this.#inTurn(() => {
      void this.#write(message, true).then(() => {
        this.#eventBytes -= message.length;
        if (isHeld) this.#unread.giveBack(bytes);
      });
    });
    return true;
  }

  /** What has to be told in any case. */
  notice(message: Buffer): void {
    this.#inTurn(() => void this.#write(message, true));
  }

  /** Takes leave behind everything that is to go out before. */
  close(code: number, reason: string): void {
    this.#inTurn(() => this.#socket.close(code, reason));
  }

  /**
   * The response has its place in the order as soon as this returns; the promise is resolved when it is written, or the
   * connection is gone. Rejects with what a streamed result throws: its message can then not be completed. Undefined when
   * clients have left so much unread that there is no room for it.
   */
  respond({ body }: MessageResponse): Promise<void> | undefined {
    const length = Array.isArray(body) ? body.reduce((sum, part) => sum + part.length, 0) : 0;
    const bytes = length < HELD_FROM_BYTES ? 0 : length;
    if (!this.#unread.take(bytes)) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#inTurn(() => {
      const message = Array.isArray(body) && length <= PIECE_BYTES ? asOneBuffer(body) : undefined;
      const written = message
        ? this.#write(message, true)
        : this.#writeInPieces(Array.isArray(body) ? cut(body) : body);
      written.then(resolve, reject);
    });
    return promise.finally(() => this.#unread.giveBack(bytes));
  }

  #inTurn(write: () => void): void {
    if (this.#held) this.#held.push(write);
    else write();
  }

  async #writeInPieces(pieces: AsyncIterableIterator<Buffer> | IterableIterator<Buffer>): Promise<void> {
    this.#held = [];
    const stop = () => void pieces.return?.();
    this.#socket.once("close", stop);
    try {
      for await (const piece of pieces) {
        if (this.#socket.readyState !== this.#socket.OPEN) return;
        await this.#write(piece, false);
      }
      await this.#write(Buffer.alloc(0), true);
    } finally {
      this.#socket.off("close", stop);
      this.#release();
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // One of them may be a message in pieces again, behind which the others have to wait.
    for (const write of held) this.#inTurn(write);
  }

  /** Never rejects: who is gone wants nothing. */
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

function asOneBuffer(parts: Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function* cut(parts: Buffer[]): Generator<Buffer, undefined> {
  for (const part of parts) {
    for (let start = 0; start < part.length; start += PIECE_BYTES) yield part.subarray(start, start + PIECE_BYTES);
  }
}
