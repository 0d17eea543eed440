import type { EvmEngine } from "../engine/evm-engine.ts";

/** Largest pool whose executable transactions are counted after each call. */
const MAX_COUNTED = 16;
const UNKNOWN = -1;

/** Indexes in the memory: the number, and how many heads the EVM's thread has been told of. */
const COUNT = 0;
const HEADS = 1;

/**
 * Number of transactions that the next block can include, in memory that the EVM's thread shares with the main thread:
 * automine reads it for each transaction, and a call would wait for both threads to wake.
 */
export class ExecutableCount {
  readonly memory: Int32Array;
  /** Number of heads that the main thread has sent. */
  #sentHeads = 0;

  constructor(memory: Int32Array = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))) {
    this.memory = memory;
  }

  /** Counts again after a call that may have changed the pool or the head. */
  update(engine: EvmEngine): void {
    const { size } = engine.pool;
    const executable = size === 0 || size > MAX_COUNTED ? [] : [...engine.executable()];
    Atomics.store(this.memory, COUNT, size > MAX_COUNTED ? UNKNOWN : executable.length);
  }

  /** Called before the main thread sends a head without waiting for an answer. */
  onHeadSent(): void {
    this.#sentHeads = (this.#sentHeads + 1) | 0;
  }

  /** Called after the EVM's thread has set a head. */
  onHeadSet(): void {
    Atomics.add(this.memory, HEADS, 1);
  }

  /** True if the EVM's thread has set all heads that the main thread has sent. */
  get hasHead(): boolean {
    return Atomics.load(this.memory, HEADS) === this.#sentHeads;
  }

  /** The number after the last call; undefined if the pool is too large to count often. */
  get value(): number | undefined {
    const count = Atomics.load(this.memory, COUNT);
    return count === UNKNOWN ? undefined : count;
  }
}
