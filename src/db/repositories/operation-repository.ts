import { Bucket } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";

/** A pooled operation. The database does not interpret the kind. */
interface StoredOperation {
  kind: string;
  bytes: Uint8Array;
}

const NUMBER_BYTES = 4;

/** Contents of the operation pools at shutdown. */
export class OperationRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /** Replaces all stored operations atomically. */
  async replaceAll(operations: readonly StoredOperation[]): Promise<void> {
    const batch = this.#store.batch();
    for await (const key of this.#store.keys(Bucket.operations)) batch.delete(Bucket.operations, key);
    for (const [n, operation] of operations.entries()) {
      batch.put(Bucket.operations, operationKey(operation, n), operation.bytes);
    }
    await batch.write();
  }

  /** Returns all operations. Operations of the same kind keep their order. */
  async getAll(): Promise<StoredOperation[]> {
    const operations: StoredOperation[] = [];
    for await (const [key, bytes] of this.#store.entries(Bucket.operations)) {
      operations.push({ kind: new TextDecoder().decode(key.subarray(0, -NUMBER_BYTES)), bytes });
    }
    return operations;
  }
}

function operationKey({ kind }: StoredOperation, n: number): Uint8Array {
  const name = new TextEncoder().encode(kind);
  const key = new Uint8Array(name.length + NUMBER_BYTES);
  key.set(name);
  new DataView(key.buffer).setUint32(name.length, n);
  return key;
}
