import type { PooledTransaction } from "./pooled-transaction.ts";

/** Transactions from a single sender, by nonce. */
export class SenderQueue {
  /** Sorted by nonce, at most one per nonce. */
  #transactions: PooledTransaction[] = [];
  #cost = 0n;

  get size(): number {
    return this.#transactions.length;
  }

  /** Maximum total cost for the sender. */
  get cost(): bigint {
    return this.#cost;
  }

  get last(): PooledTransaction | undefined {
    return this.#transactions.at(-1);
  }

  at(nonce: bigint): PooledTransaction | undefined {
    const found = this.#transactions[this.#indexOf(nonce)];
    return found?.nonce === nonce ? found : undefined;
  }

  /** Adds a transaction, replacing any transaction with the same nonce. */
  put(transaction: PooledTransaction): void {
    const index = this.#indexOf(transaction.nonce);
    const current = this.#transactions[index];
    const replaced = current?.nonce === transaction.nonce ? current : undefined;
    this.#transactions.splice(index, replaced ? 1 : 0, transaction);
    this.#cost += transaction.cost - (replaced?.cost ?? 0n);
  }

  delete(transaction: PooledTransaction): void {
    const index = this.#indexOf(transaction.nonce);
    if (this.#transactions[index] !== transaction) return;
    this.#transactions.splice(index, 1);
    this.#cost -= transaction.cost;
  }

  all(): readonly PooledTransaction[] {
    return this.#transactions;
  }

  /** Returns the number of consecutive transactions starting at a nonce. */
  executableFrom(nonce: bigint): number {
    let count = 0;
    while (this.#transactions[count]?.nonce === nonce + BigInt(count)) count++;
    return count;
  }

  /** Returns the index of the first transaction whose nonce is at least `nonce`. */
  #indexOf(nonce: bigint): number {
    let low = 0;
    let high = this.#transactions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#transactions[middle]!.nonce < nonce) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
