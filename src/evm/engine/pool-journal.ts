import type { RootHex } from "@lodestar/types";
import { toHex } from "../execution/payload.ts";
import { hashKey } from "../pool/pooled-transaction.ts";
import type { TransactionPool } from "../pool/transaction-pool.ts";

/** Persists what an engine needs after a restart. Entries of the journal are numbered in the order of arrival. */
export interface EvmStore {
  /** Returns the state of a finalized block, encoded by `encodeBase`, or null. */
  readBase(): Promise<Uint8Array | null>;
  writeBase(bytes: Uint8Array): Promise<void>;
  /** Returns some entries of the journal with that number or a higher one, in order. Empty at the end. */
  transactions(from: number): Promise<[number: number, sent: Uint8Array][]>;
  putTransaction(number: number, sent: Uint8Array): Promise<void>;
  deleteTransactions(numbers: readonly number[]): Promise<void>;
}

type JournalStore = Pick<EvmStore, "transactions" | "putTransaction" | "deleteTransactions">;

/** Journal of the pool: keeps transactions on disk until a finalized block has them, so that a crash loses none. */
export class PoolJournal {
  readonly #store: JournalStore;
  readonly #pool: TransactionPool;
  #numbers = new Map<RootHex, number>();
  #next = 0;

  constructor(store: JournalStore, pool: TransactionPool) {
    this.#store = store;
    this.#pool = pool;
  }

  /** Adds the stored transactions to the pool. Those that a block has already are skipped. */
  async load(): Promise<void> {
    this.#numbers.clear();
    const refused: number[] = [];
    let from = 0;
    for (let page = await this.#store.transactions(0); page.length > 0; page = await this.#store.transactions(from)) {
      for (const [number, sent] of page) {
        from = number + 1;
        try {
          const { transaction } = await this.#pool.add(sent);
          this.#numbers.set(toHex(transaction.hash), number);
        } catch {
          refused.push(number);
        }
      }
    }
    this.#next = Math.max(this.#next, from);
    if (refused.length > 0) await this.#store.deleteTransactions(refused);
  }

  async put(hash: Uint8Array, sent: Uint8Array): Promise<void> {
    const number = this.#next++;
    this.#numbers.set(hashKey(hash), number);
    await this.#store.putTransaction(number, sent);
  }

  /** Deletes transactions that are neither pooled nor needed. */
  async prune(needed: ReadonlySet<RootHex>): Promise<void> {
    const obsolete = [...this.#numbers].filter(
      ([hash]) => this.#pool.get(Buffer.from(hash.slice(2), "hex")) === undefined && !needed.has(hash),
    );
    if (obsolete.length === 0) return;
    for (const [hash] of obsolete) this.#numbers.delete(hash);
    await this.#store.deleteTransactions(obsolete.map(([, number]) => number));
  }

  /** Returns the function that makes the journal again what it is now. The store goes back by itself. */
  capture(): () => void {
    const numbers = new Map(this.#numbers);
    return () => {
      this.#numbers = new Map(numbers);
    };
  }
}
