import { expect } from "vitest";
import { BlockExecutor } from "../../src/evm/execution/block-executor.ts";
import type { ExecutionFork } from "../../src/evm/execution/forks.ts";
import { ChainRules } from "../../src/evm/execution/rules.ts";
import type { Transaction } from "../../src/evm/execution/transaction.ts";
import { hexOf, optionsOf, sharedCrypto, TestChain } from "../support/evm/evm.ts";
import { RandomTransactions } from "./random-transactions.ts";

const PER_BLOCK = 100;
/** Gas for new state in each transaction, since Amsterdam (EIP-8037). */
const STATE_GAS = 1_000_000n;

/**
 * Builds blocks of random transactions, and executes each again with the interpreter of the EVM library, which has to
 * get the same receipts and state. Returns how many transactions succeeded and failed.
 */
export async function compareBlocks(transactionCount: number, seed: number, fork: ExecutionFork = "osaka") {
  const options = optionsOf(fork);
  const chain = await TestChain.open(options);
  const library = new BlockExecutor(new ChainRules(options, await sharedCrypto(), { usesLibrary: true }));
  const source = new RandomTransactions(chain, seed, fork === "amsterdam" ? STATE_GAS : 0n);
  const counts = { succeeded: 0, failed: 0 };
  let left: Transaction[] = [];
  while (counts.succeeded + counts.failed < transactionCount) {
    const parent = chain.head;
    const transactions = [...left, ...Array.from({ length: PER_BLOCK - left.length }, () => source.next())];
    const block = await chain.build(transactions);
    const included = new Set(block.transactions);
    left = transactions.filter((transaction) => !included.has(transaction));
    const again = await library.execute(parent, block);
    expect(hexOf(again.hash), `block ${block.header.number} of seed ${seed}`).toBe(hexOf(block.hash));
    for (const { succeeded, contractAddress } of block.receipts) {
      counts[succeeded ? "succeeded" : "failed"]++;
      if (contractAddress !== undefined && succeeded) source.targets.push(hexOf(contractAddress));
    }
  }
  return counts;
}
