import { TimeSlice } from "../../../async/time-slice.ts";

/** Larger bodies take more than about a millisecond to concatenate. */
const SLICED_FROM_BYTES = 1024 * 1024;
const FREED_FROM_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * Buffers a request body. Concatenating a large body would block the event loop: with a known length, chunks are copied
 * into place as they arrive; otherwise they are concatenated in time slices.
 */
export class BodyBuffer {
  #chunks: Buffer[] = [];
  /** Preallocated body, used instead of the chunks. */
  #whole: Buffer | undefined;
  #bytes = 0;

  add(chunk: Buffer): void {
    if (this.#whole) {
      this.#bytes += put(chunk, this.#whole, this.#bytes);
    } else {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
  }

  /** Announces the length of the body. Memory is allocated only after a first part has arrived. */
  allocate(bytes: number): void {
    if (this.#whole || this.#bytes <= SLICED_FROM_BYTES) return;
    this.#whole = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const chunk of this.#chunks) at += put(chunk, this.#whole, at);
    this.#chunks = [];
  }

  /** Returns the bytes received so far. */
  soFar(): Buffer {
    return this.#whole ? this.#whole.subarray(0, this.#bytes) : concat(this.#chunks);
  }

  /** Returns the complete body and passes its ownership to the caller. */
  whole(): Buffer | Promise<Buffer> {
    if (this.#whole) return this.#whole;
    return this.#bytes > SLICED_FROM_BYTES ? concatInSlices(this.#chunks, this.#bytes) : concat(this.#chunks);
  }

  /** Frees all memory. */
  free(): void {
    for (const chunk of this.#chunks) freeBuffer(chunk);
    if (this.#whole) freeBuffer(this.#whole);
    this.#chunks = [];
    this.#whole = undefined;
  }
}

function concat(chunks: Buffer[]): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  return chunks.length === 0 ? EMPTY : Buffer.concat(chunks);
}

async function concatInSlices(chunks: readonly Buffer[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  const slice = new TimeSlice();
  let at = 0;
  for (const chunk of chunks) {
    at += put(chunk, whole, at);
    await slice.yieldIfDue();
  }
  return whole;
}

/** Copies a chunk, frees it and returns its length. */
function put(chunk: Buffer, whole: Buffer, at: number): number {
  const { length } = chunk;
  whole.set(chunk, at);
  freeBuffer(chunk);
  return length;
}

/** Frees the memory without waiting for garbage collection. Not worth it for small buffers. */
function freeBuffer(chunk: Buffer): void {
  if (chunk.length < FREED_FROM_BYTES) return;
  const { buffer, length } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
