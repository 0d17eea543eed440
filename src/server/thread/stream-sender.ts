import { SharedStream } from "../../json/shared-stream.ts";
import { abandon } from "../http/chunk-stream.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { passCopy } from "./passed-bytes.ts";
import type { PassedStream, ToThread } from "./protocol.ts";
import { passThrown } from "./thrown.ts";

/** So many chunks are sent ahead of their reader. */
const CHUNKS_AHEAD = 4;

/** The main thread's side of a stream. */
interface Stream {
  /** So many chunks may be sent. */
  credit: number;
  isPumping: boolean;
  source: AsyncIterator<Buffer>;
}

/** Sends the chunks of streams to the thread of the servers, no faster than they are read there. */
export class StreamSender {
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams = new Map<number, Stream | SharedStream>();
  #last = 0;

  constructor(outbox: ThreadOutbox<ToThread>) {
    this.#outbox = outbox;
  }

  /** Its first chunks are made at once: a stream that fails before them is an error, and no answer. */
  open(body: AsyncIterable<Buffer>): PassedStream {
    const stream = ++this.#last;
    if (body instanceof SharedStream) {
      this.#streams.set(stream, body);
      return { stream, descriptor: body.descriptor };
    }
    const opened = { credit: CHUNKS_AHEAD, isPumping: false, source: body[Symbol.asyncIterator]() };
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
    else abandon(opened!.source);
  }

  close(): void {
    for (const stream of this.#streams.keys()) this.release(stream);
  }

  /** Never rejects. */
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
        const bytes = passCopy(value);
        this.#outbox.send(["chunk", stream, bytes], bytes);
      }
    } catch (error) {
      if (this.#streams.delete(stream)) this.#outbox.send(["break", stream, passThrown(error)]);
    } finally {
      opened.isPumping = false;
    }
  }
}
