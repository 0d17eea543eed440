import { TimeSlice } from "../../../async/time-slice.ts";

/** From this size on, concatenating a body takes more than about a millisecond. */
const SLICED_FROM_BYTES = 1024 * 1024;
const FREED_FROM_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * Buffers a request body without blocking the event loop. If the length is known, chunks are copied into place as they
 * arrive. Otherwise they are concatenated in time slices.
 */
export class BodyBuffer {
  #chunks: Buffer[] = [];
  /** Preallocated body, used instead of the chunks. */
  #preallocated: Buffer | undefined;
  #bytes = 0;

  add(chunk: Buffer): void {
    if (this.#preallocated) {
      this.#bytes += put(chunk, this.#preallocated, this.#bytes);
    } else {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
  }

  /** Sets the expected length of the body. Memory is allocated only after the first chunks have arrived. */
  allocate(bytes: number): void {
    if (this.#preallocated || this.#bytes <= SLICED_FROM_BYTES) return;
    this.#preallocated = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const chunk of this.#chunks) at += put(chunk, this.#preallocated, at);
    this.#chunks = [];
  }

  /** Returns the bytes received so far. */
  soFar(): Buffer {
    return this.#preallocated ? this.#preallocated.subarray(0, this.#bytes) : concat(this.#chunks);
  }

  /** Returns the complete body, which the caller owns from then on. */
  complete(): Buffer | Promise<Buffer> {
    if (this.#preallocated) return this.#preallocated;
    return this.#bytes > SLICED_FROM_BYTES ? concatInSlices(this.#chunks, this.#bytes) : concat(this.#chunks);
  }

  /** Frees all memory. */
  free(): void {
    for (const chunk of this.#chunks) freeBuffer(chunk);
    if (this.#preallocated) freeBuffer(this.#preallocated);
    this.#chunks = [];
    this.#preallocated = undefined;
  }
}

function concat(chunks: Buffer[]): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  return chunks.length === 0 ? EMPTY : Buffer.concat(chunks);
}

async function concatInSlices(chunks: readonly Buffer[], bytes: number): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(bytes);
  const slice = new TimeSlice();
  let at = 0;
  for (const chunk of chunks) {
    at += put(chunk, body, at);
    await slice.yieldIfDue();
  }
  return body;
}

/** Copies a chunk, frees the chunk and returns its length. */
function put(chunk: Buffer, body: Buffer, at: number): number {
  const { length } = chunk;
  body.set(chunk, at);
  freeBuffer(chunk);
  return length;
}

/** Frees a chunk's memory without waiting for garbage collection. Does nothing for small buffers. */
function freeBuffer(chunk: Buffer): void {
  if (chunk.length < FREED_FROM_BYTES) return;
  const { buffer, length } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
