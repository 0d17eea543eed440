import { expect, it } from "vitest";
import type { ExecutedBlock } from "../execution/block.ts";
import { ContractFaultError } from "../execution/invalid-block.ts";
import type { Transaction } from "../execution/transaction.ts";
import { type BuildBlock, fillBlock } from "./fill-block.ts";

const CONTRACT = new Uint8Array(20).fill(1);
const transactionOf = (index: number) => ({ hash: Uint8Array.of(index) }) as Transaction;
const indicesOf = ({ transactions }: Pick<ExecutedBlock, "transactions">) => transactions.map(({ hash }) => hash[0]!);

/**
 * Fills a block from a pool of transactions. `faultOf` returns the fault of a block containing the given transactions.
 */
async function fill(count: number, faultOf: (indices: number[]) => ContractFaultError | Error | undefined) {
  const pool = Array.from({ length: count }, (_, index) => transactionOf(index));
  const built: number[][] = [];
  const dropped: number[] = [];
  const build: BuildBlock = async (candidates) => {
    const transactions = [...candidates];
    const indices = indicesOf({ transactions });
    built.push(indices);
    const fault = faultOf(indices);
    if (fault) throw fault;
    return { transactions } as unknown as ExecutedBlock;
  };
  const filling = fillBlock(build, pool.values(), ({ hash }) => dropped.push(hash[0]!));
  return { block: await filling.then(indicesOf, (error: Error) => error.message), built, dropped };
}

/** Simulates a contract that fails if any of the given transactions is included. */
const faultWith = (faulty: number[], fault = new ContractFaultError(CONTRACT, "failed")) => {
  return (indices: number[]) => (indices.some((index) => faulty.includes(index)) ? fault : undefined);
};

it("builds once if nothing is wrong", async () => {
  const { block, built, dropped } = await fill(3, () => undefined);
  expect([block, built.length, dropped]).toEqual([[0, 1, 2], 1, []]);
});

it("drops all transactions that are known to be faulty at once, and only omits postponed ones", async () => {
  const { block, built, dropped } = await fill(6, (indices) => {
    const faulty = indices.filter((index) => index === 1 || index === 3).map(transactionOf);
    const postponed = indices.filter((index) => index === 5).map(transactionOf);
    if (faulty.length + postponed.length === 0) return undefined;
    return new ContractFaultError(CONTRACT, "logged nonsense", { faulty, postponed });
  });
  expect([block, built.length, dropped]).toEqual([[0, 2, 4], 2, [1, 3]]);
});

it.each([0, 57, 99])(
  "finds an unknown cause, transaction %i of 100, in a few builds, and fills the block without it",
  async (cause) => {
    const { block, built, dropped } = await fill(100, faultWith([cause]));
    expect(dropped).toEqual([cause]);
    expect(block).toEqual(Array.from({ length: 100 }, (_, index) => index).filter((index) => index !== cause));
    expect(built.length).toBeLessThanOrEqual(10);
  },
);

it("keeps the transactions before the first of several unknown causes", async () => {
  const { block, dropped } = await fill(20, faultWith([7, 12]));
  expect([block, dropped]).toEqual([[0, 1, 2, 3, 4, 5, 6], [7]]);
});

it("builds a block without transactions if there is no end of faulty ones", async () => {
  const { block, built, dropped } = await fill(10, ([first]) =>
    first === undefined
      ? undefined
      : new ContractFaultError(CONTRACT, "logged nonsense", { faulty: [transactionOf(first)] }),
  );
  expect([block, built.length, dropped]).toEqual([[], 5, [0, 1, 2, 3]]);
});

it("fails if a contract makes every block invalid, without dropping a transaction", async () => {
  const { block, dropped } = await fill(5, () => new ContractFaultError(CONTRACT, "has no code"));
  expect([block, dropped]).toEqual([
    `Invalid executionRequests: system contract 0x${"01".repeat(20)} has no code.`,
    [],
  ]);
});

it("builds only once without transactions", async () => {
  const { built } = await fill(0, () => new ContractFaultError(CONTRACT, "has no code"));
  expect(built.length).toBe(1);
});

it("passes on other errors", async () => {
  const { block, built } = await fill(5, () => new TypeError("Unexpected."));
  expect([block, built.length]).toEqual(["Unexpected.", 1]);
});
