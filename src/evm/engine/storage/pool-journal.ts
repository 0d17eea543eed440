import type { RootHex } from "@lodestar/types";
import { toHex } from "../../execution/payload.ts";
import { PoolError } from "../../pool/pool-error.ts";
import { hashKey } from "../../pool/pooled-transaction.ts";
import type { TransactionPool } from "../../pool/transaction-pool.ts";
import type { EvmStore } from "./evm-store.ts";

type JournalStore = Pick<EvmStore, "transactions" | "putTransaction" | "deleteTransactions">;

interface Entry {
  number: number;
  hasBlobs: boolean;
}

const GAPPED = Symbol("nonce gap");

/**
 * Journal of the pool: keeps transactions on disk until a finalized block includes them, so that a crash loses no
 * transaction.
 */
export class PoolJournal {
  readonly #store: JournalStore;
  readonly #pool: TransactionPool;
  #entries = new Map<RootHex, Entry>();
  #next = 0;

  constructor(store: JournalStore, pool: TransactionPool) {
    this.#store = store;
    this.#pool = pool;
  }

  /** Adds the stored transactions to the pool. Restores only the blobs of included transactions. */
  async load(included: ReadonlySet<RootHex>): Promise<void> {
    this.#entries.clear();
    const refused: number[] = [];
    const gapped: [number: number, encoded: Uint8Array][] = [];
    let from = 0;
    for (let page = await this.#store.transactions(0); page.length > 0; page = await this.#store.transactions(from)) {
      for (const [number, encoded] of page) {
        from = number + 1;
        const hash = await this.#restore(encoded, included);
        if (hash === GAPPED) gapped.push([number, encoded]);
        else if (hash === undefined) refused.push(number);
        else this.#entries.set(hash, { number, hasBlobs: this.#hasBlobs(hash) });
      }
    }
    refused.push(...(await this.#restoreGapped(gapped, included)));
    this.#next = Math.max(this.#next, from);
    if (refused.length > 0) await this.#store.deleteTransactions(refused);
  }

  async put(hash: Uint8Array, encoded: Uint8Array): Promise<void> {
    const [key, number] = [hashKey(hash), this.#next++];
    const hasBlobs = this.#hasBlobs(key);
    await this.#store.putTransaction(number, encoded, hash);
    this.#entries.set(key, { number, hasBlobs });
    // Bounds the blobs on disk during non-finality.
    if (hasBlobs) await this.#drop((other, entry) => entry.hasBlobs && !this.#hasBlobs(other));
  }

  /** Deletes transactions that were dropped from the pool. */
  async delete(hashes: readonly Uint8Array[]): Promise<void> {
    const dropped = new Set(hashes.map(hashKey));
    await this.#drop((hash) => dropped.has(hash));
  }

  /** Deletes transactions that are neither in the pool nor needed. */
  async prune(needed: ReadonlySet<RootHex>): Promise<void> {
    await this.#drop((hash) => this.#pool.get(bytesOf(hash)) === undefined && !needed.has(hash));
  }

  /** Returns a function that restores the journal. The store is reverted separately. */
  capture(): () => void {
    const entries = new Map(this.#entries);
    return () => {
      this.#entries = new Map(entries);
    };
  }

  /**
   * Restores blob transactions whose predecessors come later in the journal, because they were replaced. Returns the
   * numbers of those that still have a gap.
   */
  async #restoreGapped(
    gapped: readonly [number: number, encoded: Uint8Array][],
    included: ReadonlySet<RootHex>,
  ): Promise<number[]> {
    let left = gapped;
    for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
      before = left.length;
      const still: (typeof gapped)[number][] = [];
      for (const [number, encoded] of left) {
        const hash = await this.#restore(encoded, included);
        if (hash === undefined || hash === GAPPED) still.push([number, encoded]);
        else this.#entries.set(hash, { number, hasBlobs: this.#hasBlobs(hash) });
      }
      left = still;
    }
    return left.map(([number]) => number);
  }

  /**
   * Adds a stored transaction to the pool, or only its blobs if the transaction is already included. Returns the
   * transaction hash. Transactions with blobs must not have a nonce gap.
   */
  async #restore(encoded: Uint8Array, included: ReadonlySet<RootHex>): Promise<RootHex | typeof GAPPED | undefined> {
    try {
      const { transaction } = await this.#pool.add(encoded, { isTrusted: true });
      return toHex(transaction.hash);
    } catch (error) {
      if (error instanceof PoolError && error.code === "nonceTooHigh") return GAPPED;
      return this.#pool.addIncluded(encoded, included).catch(() => undefined);
    }
  }

  async #drop(isObsolete: (hash: RootHex, entry: Entry) => boolean): Promise<void> {
    const obsolete = [...this.#entries].filter(([hash, entry]) => isObsolete(hash, entry));
    if (obsolete.length === 0) return;
    for (const [hash] of obsolete) this.#entries.delete(hash);
    await this.#store.deleteTransactions(obsolete.map(([, { number }]) => number));
  }

  #hasBlobs(hash: RootHex): boolean {
    return this.#pool.sidecarOf(bytesOf(hash)) !== undefined;
  }
}

const bytesOf = (hash: RootHex): Uint8Array => Buffer.from(hash.slice(2), "hex");
