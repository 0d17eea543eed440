import type { ExecutedBlock } from "../execution/block.ts";
import type { FaultListener } from "../execution/block-executor.ts";
import { ContractFaultError } from "../execution/invalid-block.ts";
import type { Transaction } from "../execution/transaction.ts";
import { hashKey } from "../pool/pooled-transaction.ts";

/**
 * Builds a block from the candidates, in order. Throws a `ContractFaultError` if the block does not fit into a beacon
 * block.
 */
export type BuildBlock = (candidates: Iterable<Transaction>, onFault?: FaultListener) => Promise<ExecutedBlock>;

/** Maximum number of attempts to build a block if many transactions are faulty. */
const MAX_ATTEMPTS = 4;

/**
 * Builds a block, leaving out transactions that would make it invalid, and calls `onFault` for each of them. Throws a
 * `ContractFaultError` if a system contract makes even an empty block invalid.
 */
export async function fillBlock(
  build: BuildBlock,
  candidates: Iterable<Transaction>,
  onFault?: FaultListener,
): Promise<ExecutedBlock> {
  const offers = new Offers(candidates);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      return await build(offers.all(), onFault);
    } catch (error) {
      if (!(error instanceof ContractFaultError) || offers.read.length === 0) throw error;
      const { faulty, postponed } = error.causes;
      offers.omit([...faulty, ...postponed]);
      for (const transaction of faulty) onFault?.(transaction, error);
      if (faulty.length + postponed.length > 0) continue;
      const { block, cause } = await buildUpToCause(build, offers.read);
      offers.omit([cause]);
      onFault?.(cause, error);
      return (await buildOrNull(build, offers.all())) ?? block;
    }
  }
  return build([]);
}

/**
 * Candidates shared by several attempts. Each candidate is read from the source at most once, when an attempt first
 * needs it.
 */
class Offers {
  readonly #unread: Iterator<Transaction>;
  #read: Transaction[] = [];

  constructor(candidates: Iterable<Transaction>) {
    this.#unread = candidates[Symbol.iterator]();
  }

  /** Candidates read by earlier attempts. */
  get read(): readonly Transaction[] {
    return this.#read;
  }

  *all(): Generator<Transaction> {
    yield* this.#read;
    for (let next = this.#unread.next(); !next.done; next = this.#unread.next()) {
      this.#read.push(next.value);
      yield next.value;
    }
  }

  omit(transactions: readonly Transaction[]): void {
    const omitted = new Set(transactions.map(({ hash }) => hashKey(hash)));
    this.#read = this.#read.filter(({ hash }) => !omitted.has(hashKey(hash)));
  }
}

/**
 * Finds the transaction that makes a block invalid, by bisection. Returns that transaction together with the block
 * built from the transactions before it. Throws a `ContractFaultError` if no transaction is the cause.
 */
async function buildUpToCause(
  build: BuildBlock,
  transactions: readonly Transaction[],
): Promise<{ block: ExecutedBlock; cause: Transaction }> {
  let block = await build([]);
  let valid = 0;
  let invalid = transactions.length;
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    const built = await buildOrNull(build, transactions.slice(0, middle));
    if (built) {
      block = built;
      valid = middle;
    } else {
      invalid = middle;
    }
  }
  return { block, cause: transactions[valid]! };
}

async function buildOrNull(build: BuildBlock, candidates: Iterable<Transaction>): Promise<ExecutedBlock | null> {
  try {
    return await build(candidates);
  } catch (error) {
    if (error instanceof ContractFaultError) return null;
    throw error;
  }
}
