import { SharedStream } from "../../json/shared-stream.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { received } from "./passed-bytes.ts";
import type { PassedBody, PassedBytes, ToMain } from "./protocol.ts";

/** The streams that come from the main thread, or are made here of what it gives. */
export class RemoteStreams {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #open = new Map<number, RemoteStream>();

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
  }

  /** The body of an answer. */
  bodyOf(passed: PassedBody): Buffer | AsyncIterable<Buffer> {
    if (typeof passed === "string" || passed instanceof Uint8Array) return received(passed);
    const { stream: number, descriptor } = passed;
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

  add(stream: number, chunk: PassedBytes): void {
    this.#open.get(stream)?.add(received(chunk));
  }

  end(stream: number, error?: Error): void {
    this.#open.get(stream)?.end(error);
    this.#open.delete(stream);
  }
}

interface StreamSource {
  /** One chunk more may come. */
  pull(): void;
  /** Nobody wants the rest. */
  release(): void;
}

interface Reader {
  resolve(result: IteratorResult<Buffer>): void;
  reject(error: Error): void;
}

const DONE: IteratorResult<Buffer> = { done: true, value: undefined };

/** A stream of the main thread, whose chunks come ahead of their reader. */
class RemoteStream implements AsyncIterableIterator<Buffer> {
  readonly #source: StreamSource;
  readonly #chunks: Buffer[] = [];
  #reader: Reader | undefined;
  #isOver = false;
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
      if (!this.#isOver) this.#source.pull();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#error) {
      const error = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#isOver) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.#chunks.length = 0;
    this.#error = undefined;
    if (!this.#isOver) {
      this.#isOver = true;
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
    this.#isOver = true;
    const reader = this.#reader;
    if (!reader) this.#error = error;
    else if (error) reader.reject(error);
    else reader.resolve(DONE);
  }
}
