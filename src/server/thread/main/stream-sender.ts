import { SharedStream } from "../../../json/shared-stream.ts";
import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { copyForTransfer } from "../../../threads/transferred-bytes.ts";
import { closeSource } from "../../http/response/chunk-stream.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import type { ToThread, TransferredStream } from "../messages/protocol.ts";

/** Number of chunks that are sent ahead of the reader. */
const INITIAL_CREDIT = 4;

/** A stream in the main thread. */
interface Stream {
  /** Number of chunks that may still be sent. */
  credit: number;
  isPumping: boolean;
  source: AsyncIterator<Buffer>;
}

/** Sends streams to the server thread in chunks, with credit-based backpressure. */
export class StreamSender {
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams = new Map<number, Stream | SharedStream>();
  #last = 0;

  constructor(outbox: ThreadOutbox<ToThread>) {
    this.#outbox = outbox;
  }

  /** Opens a stream and starts producing its first chunks. */
  open(body: AsyncIterable<Buffer>): TransferredStream {
    const stream = ++this.#last;
    if (body instanceof SharedStream) {
      this.#streams.set(stream, body);
      return { stream, descriptor: body.descriptor };
    }
    const opened = { credit: INITIAL_CREDIT, isPumping: false, source: body[Symbol.asyncIterator]() };
    this.#streams.set(stream, opened);
    void this.#pump(stream, opened);
    return { stream };
  }

  pull(stream: number, chunks: number): void {
    const opened = this.#streams.get(stream);
    if (opened === undefined || opened instanceof SharedStream) return;
    opened.credit += chunks;
    void this.#pump(stream, opened);
  }

  release(stream: number): void {
    const opened = this.#streams.get(stream);
    if (!this.#streams.delete(stream)) return;
    if (opened instanceof SharedStream) opened.release();
    else closeSource(opened!.source);
  }

  close(): void {
    for (const stream of this.#streams.keys()) this.release(stream);
  }

  /** Sends chunks as long as there is credit. Never rejects. */
  async #pump(stream: number, opened: Stream): Promise<void> {
    if (opened.isPumping) return;
    opened.isPumping = true;
    try {
      while (opened.credit > 0) {
        opened.credit--;
        const { done, value } = await opened.source.next();
        if (!this.#streams.has(stream)) return;
        if (done) {
          this.#streams.delete(stream);
          this.#outbox.send(["end", stream]);
          return;
        }
        const bytes = copyForTransfer(value);
        this.#outbox.send(["chunk", stream, bytes], bytes);
      }
    } catch (error) {
      if (this.#streams.delete(stream)) this.#outbox.send(["break", stream, SERVER_ERRORS.serialize(error)]);
    } finally {
      opened.isPumping = false;
    }
  }
}
