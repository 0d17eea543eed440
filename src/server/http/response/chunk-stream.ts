/** A streamed result whose first chunk has arrived. It is too late to respond with an error instead. */
interface OpenStream {
  first: Buffer;
  rest: AsyncIterator<Buffer>;
}

export type ResponsePart = Buffer | OpenStream;

/** Waits for the first chunk of a stream. Rejects with the source's error if there is no first chunk. */
export async function openStream(source: AsyncIterable<Buffer>): Promise<OpenStream> {
  const rest = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await rest.next();
    if (next.done) throw new Error("The result stream ended before its first byte.");
    if (next.value.length > 0) return { first: next.value, rest };
  }
}

/** Closes a stream's source and ignores errors from its cleanup. */
export function closeSource(iterator: AsyncIterator<Buffer>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // `return` may also throw synchronously.
  }
}

/**
 * Yields the chunks of a response with streamed results in order. This is not an async generator because a generator's
 * `return()` would wait for the pending read, whereas the source must be closed as soon as the client disconnects.
 */
export class ChunkStream implements AsyncIterableIterator<Buffer> {
  readonly #parts: ResponsePart[];
  #position = 0;
  #current: AsyncIterator<Buffer> | undefined;
  #stopped = false;
  #interrupt: (() => void) | undefined;

  constructor(parts: ResponsePart[]) {
    this.#parts = parts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (!this.#stopped) {
      if (this.#current !== undefined) {
        const next = await this.#nextOf(this.#current);
        if (!next.done) return next;
        this.#current = undefined;
        continue;
      }
      const part = this.#parts[this.#position++];
      if (part === undefined) break;
      if (Buffer.isBuffer(part)) return { done: false, value: part };
      this.#current = part.rest;
      return { done: false, value: part.first };
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Buffer>> {
    if (!this.#stopped) {
      this.#stopped = true;
      this.#interrupt?.();
      if (this.#current !== undefined) closeSource(this.#current);
      closeParts(this.#parts.slice(this.#position));
    }
    return { done: true, value: undefined };
  }

  /** Returns the next chunk. Resolves early if the stream is closed, since the source may never yield again. */
  async #nextOf(source: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
    try {
      return await new Promise((resolve, reject) => {
        this.#interrupt = () => resolve({ done: true, value: undefined });
        source.next().then(resolve, reject);
      });
    } catch (error) {
      // The source that failed is already closed, but later ones are still open.
      this.#current = undefined;
      await this.return();
      throw error;
    }
  }
}

/** Reports the number of response bytes to `onBytes`: immediately for buffers, and as they are read for streams. */
export function meterParts(parts: readonly ResponsePart[], onBytes: (count: number) => void): void {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      onBytes(part.length);
    } else {
      onBytes(part.first.length);
      part.rest = metered(part.rest, onBytes);
    }
  }
}

function metered(source: AsyncIterator<Buffer>, onBytes: (count: number) => void): AsyncIterator<Buffer> {
  return {
    async next() {
      const next = await source.next();
      if (!next.done) onBytes(next.value.length);
      return next;
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** Closes the sources of all streamed parts. */
export function closeParts(parts: readonly ResponsePart[]): void {
  for (const part of parts) {
    if (!Buffer.isBuffer(part)) closeSource(part.rest);
  }
}
