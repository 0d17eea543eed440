import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { DatabaseCorruptError } from "../errors.ts";
import { Bucket, type Root, rootBytes } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";
import { withChecksum, withoutChecksum } from "./checksummed-value.ts";

/**
 * Block root → SSZ-encoded signed execution payload envelope (gloas). Each value ends with a CRC-32C checksum, because
 * hashing the transactions on every read would be slow.
 */
export class PayloadRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  /** Throws a `DatabaseCorruptError` if the checksum does not match. */
  async get(root: Root): Promise<Uint8Array | null> {
    const value = await this.#store.get(Bucket.payloads, rootBytes(root));
    if (!value) return null;
    const envelope = withoutChecksum(value);
    if (envelope) return envelope;
    const reason = `the payload of block ${toRootHex(rootBytes(root))} does not match its checksum`;
    throw new DatabaseCorruptError(this.#store.path, reason);
  }

  has(root: Root): Promise<boolean> {
    return this.#store.has(Bucket.payloads, rootBytes(root));
  }

  /** Iterates over the roots of all blocks with a stored payload, in no particular order. */
  async *roots(): AsyncGenerator<RootHex> {
    for await (const key of this.#store.keys(Bucket.payloads)) yield toRootHex(key);
  }
}

export class PayloadWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  put(root: Root, signedEnvelope: Uint8Array): void {
    this.#batch.put(Bucket.payloads, rootBytes(root), withChecksum(signedEnvelope));
  }

  delete(root: Root): void {
    this.#batch.delete(Bucket.payloads, rootBytes(root));
  }
}
