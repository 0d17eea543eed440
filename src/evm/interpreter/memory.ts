import { MEMORY_SQUARE_DIVISOR, MEMORY_WORD_GAS } from "./gas.ts";
import { WORD_BYTES } from "./words/word.ts";

const INITIAL_BYTES = 4096;
/** Buffers larger than this are dropped once their frame has ended. */
const REUSED_BYTES = 64 * 1024;

/** A frame's memory. The size is a multiple of 32 bytes. */
export class Memory {
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  view: DataView = new DataView(this.bytes.buffer);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the gas for growing to `end`, which may be infinite. */
  growthGas(end: number): number {
    return end <= this.#size ? 0 : gasOf(Math.ceil(end / WORD_BYTES)) - gasOf(this.#size / WORD_BYTES);
  }

  /** Grows to `end`. The gas must already have been paid. */
  grow(end: number): void {
    if (end <= this.#size) return;
    this.#size = Math.ceil(end / WORD_BYTES) * WORD_BYTES;
    if (this.#size <= this.bytes.length) return;
    const { bytes } = this;
    this.#allocate(Math.max(this.#size, 2 * bytes.length));
    this.bytes.set(bytes);
  }

  /** Returns a copy of a range. */
  slice(offset: number, length: number): Uint8Array {
    return this.bytes.slice(offset, offset + length);
  }

  /** Writes a range of `source`, padded with zeros past the end of `source`. */
  write(offset: number, source: Uint8Array, sourceOffset: number, length: number): void {
    const copied = source.subarray(
      Math.min(sourceOffset, source.length),
      Math.min(sourceOffset + length, source.length),
    );
    this.bytes.set(copied, offset);
    this.bytes.fill(0, offset + copied.length, offset + length);
  }

  clear(): void {
    if (this.bytes.length > REUSED_BYTES) this.#allocate(INITIAL_BYTES);
    else this.bytes.fill(0, 0, this.#size);
    this.#size = 0;
  }

  #allocate(length: number): void {
    this.bytes = new Uint8Array(length);
    this.view = new DataView(this.bytes.buffer);
  }
}

function gasOf(words: number): number {
  return words * MEMORY_WORD_GAS + Math.floor((words * words) / MEMORY_SQUARE_DIVISOR);
}
