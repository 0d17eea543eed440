/** How much memory may be taken by what waits to be read before the sender has to pause. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** What controls the sender of a body. */
interface Source {
  pause(): void;
  resume(): void;
  /** The reader has stopped early. */
  stop(): void;
}

interface Reader {
  resolve(result: IteratorResult<Buffer, undefined>): void;
  reject(error: Error): void;
}

/** A body that is read while it comes, once, by one reader, who has it wait when he is slower. */
export class BodyStream implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: Source;
  readonly #chunks: Buffer[] = [];
  /** Of all the memory that the chunks are in. */
  #waitingBytes = 0;
  #isPaused = false;
  #reader: Reader | undefined;
  /** How it ended: an error is told only after what came before it has been read. */
  #end: "whole" | "stopped" | Error | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(chunk: Buffer): void {
    if (this.#end !== undefined) return;
    if (this.#reader) {
      this.#takeReader()?.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.buffer.byteLength;
    if (this.#waitingBytes < HIGH_WATER_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  end(): void {
    this.#end ??= "whole";
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  fail(error: Error): void {
    this.#end ??= error;
    this.#takeReader()?.reject(error);
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#waitingBytes -= chunk.buffer.byteLength;
      if (this.#isPaused && this.#waitingBytes < HIGH_WATER_BYTES / 2) {
        this.#isPaused = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end instanceof Error) return Promise.reject(this.#end);
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#chunks.length = 0;
    this.#waitingBytes = 0;
    if (this.#end === undefined) {
      this.#end = "stopped";
      this.#takeReader()?.resolve({ done: true, value: undefined });
      this.#source.stop();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  #takeReader(): Reader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
