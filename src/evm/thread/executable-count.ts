import type { EvmEngine } from "../engine/evm-engine.ts";

/** Largest pool whose executable transactions are counted after each call. */
const MAX_COUNTED = 16;
const UNKNOWN = -1;

/**
 * Number of transactions that the next block can include, in memory that the EVM's thread shares with the main thread:
 * automine reads it for each transaction, and a call would wait for both threads to wake.
 */
export class ExecutableCount {
  readonly memory: Int32Array;

  constructor(memory: Int32Array = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.memory = memory;
  }

  /** Counts again after a call that may have changed the pool or the head. */
  update(engine: EvmEngine): void {
    const { size } = engine.pool;
    const executable = size === 0 || size > MAX_COUNTED ? [] : [...engine.executable()];
    Atomics.store(this.memory, 0, size > MAX_COUNTED ? UNKNOWN : executable.length);
  }

  /** The number after the last call; undefined if the pool is too large to count often. */
  get value(): number | undefined {
    const count = Atomics.load(this.memory, 0);
    return count === UNKNOWN ? undefined : count;
  }
}
