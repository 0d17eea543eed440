import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { bytesOf, DEPOSIT_CONTRACT } from "../../../test/support/evm/evm.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { ContractFaultError } from "../execution/invalid-block.ts";
import type { Transaction } from "../execution/transaction.ts";
import { encodeRequests } from "./execution-requests.ts";
import { requireRequestsFit } from "./request-limits.ts";

const DEPOSIT_TOPIC = bytesOf("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5");
const LIMIT = ssz.electra.DepositRequests.limit;

function faultOf(block: Partial<ExecutedBlock>): ContractFaultError | undefined {
  try {
    requireRequestsFit({ transactions: [], receipts: [], ...block } as unknown as ExecutedBlock, DEPOSIT_CONTRACT);
    return undefined;
  } catch (error) {
    if (error instanceof ContractFaultError) return error;
    throw error;
  }
}

it("accepts a block of a fork without requests", () => {
  expect(faultOf({})).toBeUndefined();
});

it.each([
  { name: "withdrawal", type: 1, size: 76, limit: ssz.electra.WithdrawalRequests.limit, contract: /0x0\w+7002/ },
  { name: "consolidation", type: 2, size: 116, limit: ssz.electra.ConsolidationRequests.limit, contract: /0x0\w+7251/ },
])("names the contract that returns more $name requests than a block holds, or part of one", (kind) => {
  const { name, type, size, limit, contract } = kind;
  const returned = (length: number) => faultOf({ requests: [new Uint8Array(1 + length).fill(type, 0, 1)] })?.fault;
  expect(returned(size * limit)).toBeUndefined();
  const excess = returned(size * (limit + 1));
  expect(excess).toMatch(contract);
  expect(excess).toContain(`made ${limit + 1} ${name} requests, a block holds at most ${limit}`);
  expect(returned(size + 1)).toContain(`returned ${size + 1} bytes of ${name} requests, which have ${size} bytes each`);
});

/** Returns a block whose transactions deposit the given amounts. */
function blockOf(...amounts: bigint[][]) {
  const log = { address: DEPOSIT_CONTRACT, topics: [DEPOSIT_TOPIC], data: new Uint8Array(576) };
  const transactions = amounts.map((_, index) => ({ hash: new Uint8Array(32).fill(index) }) as Transaction);
  const receipts = amounts.map((own) => ({ logs: own.map(() => log) }) as unknown as ExecutedBlock["receipts"][0]);
  const deposit = ssz.electra.DepositRequest.defaultValue();
  const deposits = amounts.flat().map((amount) => ({ ...deposit, amount: Number(amount) }));
  const requests = encodeRequests({ deposits, withdrawals: [], consolidations: [] });
  return { transactions, receipts, requests };
}

const deposits = (count: number) => new Array<bigint>(count).fill(1n);

it("postpones deposits that the block has no room for, and refuses more than any block has room for", () => {
  expect(faultOf(blockOf(deposits(LIMIT - 1), deposits(1)))).toBeUndefined();
  const block = blockOf(deposits(LIMIT - 1), deposits(2), deposits(1), deposits(LIMIT + 1), deposits(1));
  const fault = faultOf(block);
  expect(fault?.message).toMatch(/0x4242\w+ made \d+ deposit requests, a block holds at most 8192/);
  const [, second, , excessive, last] = block.transactions;
  expect(fault?.causes).toEqual({ faulty: [excessive], postponed: [second, last] });
});

it("refuses an amount that a number cannot hold", () => {
  const block = blockOf([1n], [2n ** 53n - 1n, 2n ** 53n], []);
  const fault = faultOf(block);
  expect(fault?.message).toMatch(/0x4242\w+ logged a deposit of more than 2\^53 - 1 Gwei/);
  expect(fault?.causes).toEqual({ faulty: [block.transactions[1]], postponed: [] });
});
