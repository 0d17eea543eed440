import { prefixed } from "./key-range.ts";
import type { Operation } from "./layers.ts";

/** Atomic batch of writes. */
export class WriteBatch {
  readonly #operations: Operation[] = [];
  readonly #commit: (operations: Operation[]) => Promise<void>;
  #written = false;

  constructor(commit: (operations: Operation[]) => Promise<void>) {
    this.#commit = commit;
  }

  /** If a key is written more than once, the last write wins. */
  put(bucket: number, key: Uint8Array, value: Uint8Array): void {
    this.#operations.push({ type: "put", key: prefixed(bucket, key), value });
  }

  delete(bucket: number, key: Uint8Array): void {
    this.#operations.push({ type: "del", key: prefixed(bucket, key) });
  }

  async write(): Promise<void> {
    if (this.#written) throw new Error("This batch has already been written. A batch can be written once.");
    this.#written = true;
    await this.#commit(this.#operations);
  }
}
