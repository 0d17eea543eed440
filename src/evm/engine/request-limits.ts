import type { ExecutedBlock } from "../execution/block.ts";
import { depositLogs } from "../execution/deposit-events.ts";
import { ContractFaultError } from "../execution/invalid-block.ts";
import type { Transaction } from "../execution/transaction.ts";
import { BUILDER_DEPOSITS, BUILDER_EXITS, CONSOLIDATION_REQUESTS, WITHDRAWAL_REQUESTS } from "../system-addresses.ts";
import {
  BUILDER_DEPOSIT,
  BUILDER_EXIT,
  bodyOf,
  CONSOLIDATION,
  DEPOSIT,
  decodeDeposits,
  type RequestCodec,
  WITHDRAWAL,
} from "./execution-requests.ts";

/**
 * Checks that the requests of an executed block fit into a beacon block. The original contracts for
 * withdrawals, consolidations and builders respect the limits; code set by overrides may not. Throws a `ContractFaultError` if a limit is exceeded.
 */
export function requireRequestsFit(block: ExecutedBlock, depositContract: Uint8Array): void {
  const { requests } = block;
  if (requests === undefined) return;
  requireReturned(WITHDRAWAL, requests, WITHDRAWAL_REQUESTS);
  requireReturned(CONSOLIDATION, requests, CONSOLIDATION_REQUESTS);
  requireReturned(BUILDER_DEPOSIT, requests, BUILDER_DEPOSITS);
  requireReturned(BUILDER_EXIT, requests, BUILDER_EXITS);
  requireDeposits(block, decodeDeposits(requests), depositContract);
}

/** Checks the requests that a contract returned at the end of the block. */
function requireReturned(
  { type, name, size, limit }: Pick<RequestCodec<never>, "type" | "name" | "size" | "limit">,
  requests: readonly Uint8Array[],
  contract: Uint8Array,
): void {
  const { length } = bodyOf(requests, { type });
  if (length % size !== 0) {
    throw new ContractFaultError(
      contract,
      `returned ${length} bytes of ${name} requests, which have ${size} bytes each`,
    );
  }
  const count = length / size;
  if (count <= limit) return;
  throw new ContractFaultError(contract, `made ${count} ${name} requests, a block holds at most ${limit}`);
}

/** Checks the deposit requests made by the block's transactions. */
function requireDeposits(
  { transactions, receipts }: ExecutedBlock,
  deposits: readonly { amount: number }[],
  contract: Uint8Array,
): void {
  const { limit } = DEPOSIT;
  const inexact: Transaction[] = [];
  const excessive: Transaction[] = [];
  const postponed: Transaction[] = [];
  let next = 0;
  let count = 0;
  for (const [index, transaction] of transactions.entries()) {
    const logCount = depositLogs({ transaction, receipt: receipts[index]! }, contract).length;
    const amounts = deposits.slice(next, next + logCount).map(({ amount }) => amount);
    next += logCount;
    if (!amounts.every(Number.isSafeInteger)) inexact.push(transaction);
    else if (logCount > limit) excessive.push(transaction);
    else if (count + logCount > limit) postponed.push(transaction);
    else count += logCount;
  }
  if (inexact.length > 0) {
    throw new ContractFaultError(contract, "logged a deposit of more than 2^53 - 1 Gwei", { faulty: inexact });
  }
  if (next <= limit) return;
  const fault = `made ${next} deposit requests, a block holds at most ${limit}`;
  throw new ContractFaultError(contract, fault, { faulty: excessive, postponed });
}
