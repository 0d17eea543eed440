/** A streamed result whose first bytes are there, so that it can no longer turn into an error object. */
interface OpenStream {
  first: Buffer;
  rest: AsyncIterator<Buffer>;
}

export type ResponsePart = Buffer | OpenStream;

/** Waits for the first bytes of a streamed result; throws what the source throws before them. */
export async function openStream(source: AsyncIterable<Buffer>): Promise<OpenStream> {
  const rest = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await rest.next();
    if (next.done) throw new Error("The stream of a result ended before its first byte.");
    if (next.value.length > 0) return { first: next.value, rest };
  }
}

/** Tells the source of a stream that nobody wants the rest. What it throws while cleaning up concerns nobody either. */
export function abandon(iterator: AsyncIterator<Buffer>): void {
  try {
    iterator.return?.()?.then(undefined, () => {});
  } catch {
    // An iterator may also fail at once; the same holds.
  }
}

/**
 * The chunks of a response that holds streamed results, in order. An iterator by hand and not an async generator,
 * because a generator puts off `return()` while it waits for a source, and a source must hear at once that the client
 * is gone.
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
      if (this.#current !== undefined) abandon(this.#current);
      abandonParts(this.#parts.slice(this.#position));
    }
    return { done: true, value: undefined };
  }

  /** Ends early when the stream is stopped, since a source may be stuck for good. */
  async #nextOf(source: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
    try {
      return await new Promise((resolve, reject) => {
        this.#interrupt = () => resolve({ done: true, value: undefined });
        source.next().then(resolve, reject);
      });
    } catch (error) {
      // The failed source has ended by itself; those after it have not.
      this.#current = undefined;
      await this.return();
      throw error;
    }
  }
}

/** Tells of the bytes of a response: at once of those that are there, of the rest of a stream as it is read. */
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

export function abandonParts(parts: readonly ResponsePart[]): void {
  for (const part of parts) {
    if (!Buffer.isBuffer(part)) abandon(part.rest);
  }
}
