import type { Logger } from "../../log/logger.ts";
import { toHex } from "../execution/payload.ts";
import type { Transaction } from "../execution/transaction.ts";
import { hashKey } from "../pool/pooled-transaction.ts";
import type { TransactionPool } from "../pool/transaction-pool.ts";
import type { FinalizedStore } from "./storage/finalized-store.ts";

interface DroppedTransactionsParts {
  pool: TransactionPool;
  storage: FinalizedStore;
  logger: Logger;
}

const MAX_REASONS = 1000;

/** Drops transactions from the pool and its journal. Records the reason, unless the drop was requested. */
export class DroppedTransactions {
  readonly #parts: DroppedTransactionsParts;
  readonly #reasons = new Map<string, string>();

  constructor(parts: DroppedTransactionsParts) {
    this.#parts = parts;
  }

  /** Drops transactions on request. Returns the number of transactions that were in the pool. */
  async drop(hashes: readonly Uint8Array[]): Promise<number> {
    const { pool, storage } = this.#parts;
    const dropped = hashes.filter((hash) => pool.drop(hash));
    await storage.journal?.delete(dropped);
    return dropped.length;
  }

  /** Drops a transaction that cannot be included in any block. */
  dropUnusable({ hash, sender, tx }: Transaction, error: Error): void {
    const { pool, storage, logger } = this.#parts;
    logger.warn("Dropped a transaction that no block can include", {
      hash: toHex(hash),
      sender: sender.toString(),
      to: tx.to?.toString(),
      error,
    });
    this.#reasons.set(hashKey(hash), error.message);
    for (const oldest of this.#reasons.keys()) {
      if (this.#reasons.size <= MAX_REASONS) break;
      this.#reasons.delete(oldest);
    }
    pool.drop(hash);
    storage.writeLater(async () => storage.journal?.delete([hash]));
  }

  /** Returns the reason why a transaction was dropped; undefined if the drop was requested. */
  reasonOf(hash: Uint8Array): string | undefined {
    return this.#reasons.get(hashKey(hash));
  }

  /** Deletes the reason recorded for a resubmitted transaction. */
  forget(hash: Uint8Array): void {
    this.#reasons.delete(hashKey(hash));
  }
}
