/** The sender is paused once this many bytes are waiting to be read. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** Above this number, waiting chunks are joined, because each one has a memory overhead. */
const MAX_CHUNKS = 1024;
/** Up to this total size, a single read returns all waiting chunks. */
const JOINED_BYTES = 64 * 1024;

/** Controls the sender of a body. */
interface Source {
  pause(): void;
  resume(): void;
  /** Called when the reader stops early. */
  stop(): void;
}

interface Reader {
  resolve(result: IteratorResult<Buffer, undefined>): void;
  reject(error: Error): void;
}

/** A response body with backpressure, for a single reader. */
export class BodyStream implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: Source;
  #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #reader: Reader | undefined;
  /** How the body ended. An error is thrown only after the chunks received before it have been read. */
  #end: "complete" | "stopped" | Error | undefined;

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
    if (this.#chunks.push(chunk) > MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < HIGH_WATER_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  end(): void {
    this.#end ??= "complete";
    this.#takeReader()?.resolve({ done: true, value: undefined });
  }

  fail(error: Error): void {
    this.#end ??= error;
    this.#takeReader()?.reject(error);
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#takeChunk();
    if (chunk) {
      this.#waitingBytes -= chunk.length;
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
    this.#chunks = [];
    this.#waitingBytes = 0;
    if (this.#end === undefined) {
      this.#end = "stopped";
      this.#takeReader()?.resolve({ done: true, value: undefined });
      this.#source.stop();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  #takeChunk(): Buffer | undefined {
    if (this.#chunks.length < 2 || this.#waitingBytes > JOINED_BYTES) return this.#chunks.shift();
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return joined;
  }

  #takeReader(): Reader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
