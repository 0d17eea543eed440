import { beforeAll, describe, expect, it } from "vitest";
import type { Receipt } from "../../src/evm/execution/receipt.ts";
import type { Transaction } from "../../src/evm/execution/transaction.ts";
import { bytesOf, GENESIS_TIME, hexOf, optionsOf, SLOT_SECONDS, TestChain } from "../support/evm/evm.ts";
import { EdrChain, loadEdr } from "./edr-chain.ts";
import { RandomTransactions } from "./random-transactions.ts";

const BLOCKS = 20;
const PER_BLOCK = 100;
const SLOTS = 10;

const edr = await loadEdr();

interface EdrReceipt {
  status: string;
  gasUsed: string;
  cumulativeGasUsed: string;
  effectiveGasPrice: string;
  contractAddress: string | null;
  logsBloom: string;
  logs: { address: string; topics: string[]; data: string }[];
}

/** A receipt in the form of JSON-RPC. */
function toJson({
  succeeded,
  gasUsed,
  cumulativeGasUsed,
  effectiveGasPrice,
  contractAddress,
  logs,
  logsBloom,
}: Receipt) {
  const hex = (bytes: Uint8Array) => `0x${hexOf(bytes)}`;
  return {
    status: succeeded ? "0x1" : "0x0",
    gasUsed: `0x${gasUsed.toString(16)}`,
    cumulativeGasUsed: `0x${cumulativeGasUsed.toString(16)}`,
    effectiveGasPrice: `0x${effectiveGasPrice.toString(16)}`,
    // EDR has none for a transaction that failed; geth has.
    contractAddress: contractAddress === undefined || !succeeded ? null : hex(contractAddress),
    logsBloom: hex(logsBloom),
    logs: logs.map(({ address, topics, data }) => ({
      address: hex(address),
      topics: topics.map(hex),
      data: hex(data),
    })),
  };
}

function comparable({ logs, ...receipt }: EdrReceipt) {
  const { status, gasUsed, cumulativeGasUsed, effectiveGasPrice, contractAddress, logsBloom } = receipt;
  const fields = { status, gasUsed, cumulativeGasUsed, effectiveGasPrice, contractAddress, logsBloom };
  return { ...fields, logs: logs.map(({ address, topics, data }) => ({ address, topics, data })) };
}

const title = "random transactions have the receipts and the state of EDR";
describe.skipIf(edr === undefined)(edr === undefined ? `${title} (it has no binary for this platform)` : title, () => {
  let chain: TestChain;
  let other: EdrChain;

  beforeAll(async () => {
    chain = await TestChain.open(optionsOf("osaka"));
    other = await EdrChain.open(edr!, { coinbase: chain.attributes().feeRecipient });
  });

  it(`${BLOCKS * PER_BLOCK} transactions`, async () => {
    const source = new RandomTransactions(chain, 42);
    const counts = { succeeded: 0, failed: 0, logs: 0, created: 0 };
    let left: Transaction[] = [];
    for (let index = 0; index < BLOCKS; index++) {
      const transactions = [...left, ...Array.from({ length: PER_BLOCK }, () => source.next())];
      const timestamp = GENESIS_TIME * 2000 + index * SLOT_SECONDS;
      const block = await chain.build(transactions, { timestamp, parentBeaconBlockRoot: new Uint8Array(32) });
      const included = new Set(block.transactions);
      left = transactions.filter((transaction) => !included.has(transaction));
      for (const { raw } of block.transactions) await other.call("eth_sendRawTransaction", `0x${hexOf(raw)}`);
      await other.call("evm_setNextBlockTimestamp", timestamp);
      await other.call("evm_mine");
      for (const [position, { hash }] of block.transactions.entries()) {
        const receipt = block.receipts[position]!;
        const expected = await other.call<EdrReceipt>("eth_getTransactionReceipt", `0x${hexOf(hash)}`);
        expect(toJson(receipt), `block ${index}, transaction ${position}`).toEqual(comparable(expected));
        counts[receipt.succeeded ? "succeeded" : "failed"]++;
        counts.logs += receipt.logs.length;
        if (receipt.contractAddress !== undefined && receipt.succeeded) {
          counts.created++;
          source.targets.push(hexOf(receipt.contractAddress));
        }
      }
    }
    for (const target of new Set(source.targets)) await compareAccount(target);
    expect(counts.succeeded).toBeGreaterThan(1000);
    expect(counts.failed).toBeGreaterThan(200);
    expect(counts.logs).toBeGreaterThan(100);
    expect(counts.created).toBeGreaterThan(200);
  });

  async function compareAccount(address: string): Promise<void> {
    const { reader } = chain.executor;
    const account = reader.account(chain.head.world, bytesOf(address));
    const at = [`0x${address}`, "latest"];
    expect(BigInt(await other.call<string>("eth_getBalance", ...at)), address).toBe(account?.balance ?? 0n);
    expect(BigInt(await other.call<string>("eth_getTransactionCount", ...at)), address).toBe(account?.nonce ?? 0n);
    expect(await other.call<string>("eth_getCode", ...at), address).toBe(
      `0x${hexOf(account?.code ?? new Uint8Array(0))}`,
    );
    for (let slot = 0; slot < SLOTS; slot++) {
      const key = bytesOf(slot.toString(16).padStart(64, "0"));
      const value = await other.call<string>("eth_getStorageAt", at[0], `0x${hexOf(key)}`, "latest");
      const own = BigInt(`0x${hexOf(reader.slot(account?.storage, key)) || "0"}`);
      expect(BigInt(value), `slot ${slot} of ${address}`).toBe(own);
    }
  }
});
