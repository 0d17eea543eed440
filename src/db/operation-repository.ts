import { Bucket } from "./keys.ts";
import type { LevelStore } from "./level-store.ts";

/** An operation of a pool. The kind (and the fork, for kinds whose encoding changed with one) says what the SSZ is of. */
export interface StoredOperation {
  kind: string;
  fork?: string;
  bytes: Uint8Array;
}

/** Parts the kind from the fork in a key; neither of them contains it. */
const SEPARATOR = "/";
const NUMBER_BYTES = 4;

/** What the operation pools held at shutdown. */
export class OperationRepository {
  private readonly store: LevelStore;

  constructor(store: LevelStore) {
    this.store = store;
  }

  /** Puts these operations in the place of all that there are, atomically. */
  async replaceAll(operations: readonly StoredOperation[]): Promise<void> {
    const batch = this.store.batch();
    for await (const key of this.store.keys(Bucket.operations)) batch.delete(Bucket.operations, key);
    for (const [n, operation] of operations.entries()) {
      batch.put(Bucket.operations, operationKey(operation, n), operation.bytes);
    }
    await batch.write();
  }

  /** Operations of one kind and fork come in the order in which they were given. */
  async getAll(): Promise<StoredOperation[]> {
    const operations: StoredOperation[] = [];
    for await (const [key, bytes] of this.store.entries(Bucket.operations)) {
      const [kind = "", fork] = new TextDecoder().decode(key.subarray(0, -NUMBER_BYTES)).split(SEPARATOR);
      operations.push(fork === undefined ? { kind, bytes } : { kind, fork, bytes });
    }
    return operations;
  }
}

function operationKey({ kind, fork }: StoredOperation, n: number): Uint8Array {
  const name = new TextEncoder().encode(fork === undefined ? kind : `${kind}${SEPARATOR}${fork}`);
  const key = new Uint8Array(name.length + NUMBER_BYTES);
  key.set(name);
  new DataView(key.buffer).setUint32(name.length, n);
  return key;
}
