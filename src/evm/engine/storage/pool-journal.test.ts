import { expect, it } from "vitest";
import { PoolError } from "../../pool/pool-error.ts";
import type { TransactionPool } from "../../pool/transaction-pool.ts";
import { PoolJournal } from "./pool-journal.ts";

/** A store whose transactions have one byte, their nonce, by which a pool without nonce gaps accepts them. */
function opened(nonces: readonly number[]) {
  const deleted: number[] = [];
  const store = {
    transactions: async (from: number): Promise<[number, Uint8Array][]> =>
      nonces.map((nonce, number): [number, Uint8Array] => [number, Uint8Array.of(nonce)]).slice(from),
    putTransaction: async () => {},
    deleteTransactions: async (numbers: readonly number[]) => void deleted.push(...numbers),
  };
  const pooled: number[] = [];
  const pool = {
    add: async ([nonce]: Uint8Array) => {
      if (nonce! > pooled.length) throw new PoolError("nonceTooHigh");
      pooled.push(nonce!);
      return { transaction: { hash: Uint8Array.of(nonce!) } };
    },
    addIncluded: async () => undefined,
    get: () => undefined,
    sidecarOf: () => undefined,
  };
  return { journal: new PoolJournal(store, pool as unknown as TransactionPool), pooled, deleted };
}

it("restores transactions with blobs before which another one was replaced, and drops those with a gap", async () => {
  const { journal, pooled, deleted } = opened([3, 2, 0, 1, 7]);
  await journal.load(new Set());
  expect(pooled).toEqual([0, 1, 2, 3]);
  expect(deleted).toEqual([4]);
  await journal.delete([Uint8Array.of(3)]);
  expect(deleted).toEqual([4, 0]);
});
