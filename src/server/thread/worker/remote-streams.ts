import { SharedStream } from "../../../json/shared-stream.ts";
import type { ThreadOutbox } from "../../../threads/outbox.ts";
import type { TransferredBytes } from "../../../threads/transferred-bytes.ts";
import { receiveBytes } from "../../../threads/transferred-bytes.ts";
import type { ToMain, TransferredBody } from "../messages/protocol.ts";

/** Streams from the main thread, and streams that are produced here from descriptors. */
export class RemoteStreams {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #open = new Map<number, RemoteStream>();

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
  }

  /** Restores a response body. */
  bodyOf(transferred: TransferredBody): Buffer | AsyncIterable<Buffer> {
    if (typeof transferred === "string" || transferred instanceof Uint8Array) return receiveBytes(transferred);
    const { stream: number, descriptor } = transferred;
    const release = () => {
      this.#open.delete(number);
      this.#outbox.send(["release", number]);
    };
    if (descriptor) {
      const shared = SharedStream.of(descriptor);
      shared.onEnd(release);
      return shared;
    }
    const stream = new RemoteStream({ pull: () => this.#outbox.send(["pull", number, 1]), release });
    this.#open.set(number, stream);
    return stream;
  }

  add(stream: number, chunk: TransferredBytes): void {
    this.#open.get(stream)?.add(receiveBytes(chunk));
  }

  end(stream: number, error?: Error): void {
    this.#open.get(stream)?.end(error);
    this.#open.delete(stream);
  }
}

interface StreamSource {
  /** Grants credit for one more chunk. */
  pull(): void;
  /** Closes the stream. */
  release(): void;
}

interface Reader {
  resolve(result: IteratorResult<Buffer>): void;
  reject(error: Error): void;
}

const DONE: IteratorResult<Buffer> = { done: true, value: undefined };

/** A stream from the main thread. Chunks arrive ahead of the reader. */
class RemoteStream implements AsyncIterableIterator<Buffer> {
  readonly #source: StreamSource;
  readonly #chunks: Buffer[] = [];
  #reader: Reader | undefined;
  #hasEnded = false;
  #error: Error | undefined;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    const chunk = this.#chunks.shift();
    if (chunk) {
      if (!this.#hasEnded) this.#source.pull();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#error) {
      const error = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#hasEnded) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.#chunks.length = 0;
    this.#error = undefined;
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#source.release();
      this.#reader?.resolve(DONE);
    }
    return DONE;
  }

  add(chunk: Buffer): void {
    const reader = this.#reader;
    if (reader === undefined) {
      this.#chunks.push(chunk);
      return;
    }
    this.#reader = undefined;
    this.#source.pull();
    reader.resolve({ done: false, value: chunk });
  }

  end(error: Error | undefined): void {
    this.#hasEnded = true;
    const reader = this.#reader;
    if (!reader) this.#error = error;
    else if (error) reader.reject(error);
    else reader.resolve(DONE);
  }
}
