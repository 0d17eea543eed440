interface TailStreamOptions {
  /** Minimum number of bytes that are held back, unless the stream is shorter. */
  tailBytes: number;
  /**
   * Returns the last bytes to forward. Takes the bytes that were held back and the number of bytes before them. If it
   * throws, the stream fails.
   */
  finish(rest: Buffer, passedBytes: number): Buffer;
}

/**
 * Forwards chunks, except for the last bytes of the stream, which can be checked or changed.
 *
 * A hand-written iterator: a generator would delay `return()` while it waits for a chunk.
 */
export class TailStream implements AsyncIterableIterator<Buffer> {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #options: TailStreamOptions;
  #tail: Buffer[];
  #tailLength: number;
  #passedBytes = 0;
  #isOver = false;

  constructor(start: Buffer | undefined, chunks: AsyncIterator<Buffer>, options: TailStreamOptions) {
    this.#chunks = chunks;
    this.#options = options;
    this.#tail = start === undefined ? [] : [start];
    this.#tailLength = start?.length ?? 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (!this.#isOver) {
      const [oldest] = this.#tail;
      if (oldest !== undefined && this.#tailLength - oldest.length >= this.#options.tailBytes) {
        this.#tail.shift();
        this.#tailLength -= oldest.length;
        this.#passedBytes += oldest.length;
        return { done: false, value: oldest };
      }
      const next = await this.#chunks.next();
      if (next.done) {
        if (this.#isOver) break;
        this.#isOver = true;
        return {
          done: false,
          value: this.#options.finish(Buffer.concat(this.#tail, this.#tailLength), this.#passedBytes),
        };
      }
      if (next.value.length === 0) continue;
      this.#tail.push(next.value);
      this.#tailLength += next.value.length;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.#isOver = true;
    this.#tail = [];
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }
}
