import type { KeyRange } from "./key-range.ts";
import type { Operation } from "./layers.ts";

/** Range of keys that include their bucket prefix. A limit of -1 means no limit. */
export type EngineRange = KeyRange;

/**
 * Ordered key-value store underneath `LevelStore`: LevelDB or an in-memory store. Iterators see the contents as of
 * their creation.
 */
export interface Engine {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  has(key: Uint8Array): Promise<boolean>;
  /** With `values: false`, values may be missing. */
  iterator(range: EngineRange & { values?: boolean }): AsyncIterable<[key: Uint8Array, value: Uint8Array]>;
  keys(range: EngineRange): AsyncIterable<Uint8Array>;
  /** Writes atomically. `sync` waits for fsync. */
  batch(operations: Operation[], options: { sync: boolean }): Promise<void>;
  clear(range: EngineRange): Promise<void>;
  compactRange(start: Uint8Array, end: Uint8Array): Promise<void>;
  /** Returns the approximate disk size of a range. */
  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number>;
  close(): Promise<void>;
}
