import { Address } from "@ethereumjs/util";
import type { deneb, ExecutionPayload } from "@lodestar/types";
import { beforeAll, describe, expect, it } from "vitest";
import { addressOf, bytesOf, hexOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { depositCall, SCENARIO_ACCOUNTS, scenarioTransactions } from "../../../test/support/evm/execution/scenario.ts";
import { decodeBlock, type ExecutedBlock, encodeBlock } from "./block.ts";
import { encodeHeader } from "./header.ts";
import { InvalidBlockError } from "./invalid-block.ts";
import { fromPayload, type PayloadContext, toPayload } from "./payload.ts";
import { decodeReceipts, encodeReceipts } from "./receipt.ts";
import { CONSOLIDATION_REQUESTS_ADDRESS, WITHDRAWAL_REQUESTS_ADDRESS } from "./system-contracts.ts";
import { versionedHashesOf } from "./transaction.ts";

function contextOf({ header, requests, transactions }: ExecutedBlock): PayloadContext {
  return {
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
    requests,
    versionedHashes: versionedHashesOf(transactions),
  };
}

describe("execution of blocks", () => {
  it("turns deposits, withdrawal requests and consolidation requests into requests of the block", async () => {
    const chain = await TestChain.open(optionsOf("prague"), SCENARIO_ACCOUNTS);
    // Requests fail until the system has called the contracts once.
    await chain.build();
    const { requests = [], receipts } = await chain.build(scenarioTransactions(chain, "prague", 0));
    expect(requests.map(([type]) => type)).toEqual([0, 1, 2]);
    expect(requests.map(({ length }) => length - 1)).toEqual([192, 20 + 56, 20 + 96]);
    expect(hexOf(requests[0]!.subarray(1, 49))).toBe("00".repeat(48));
    expect(receipts.filter(({ succeeded }) => !succeeded).length).toBe(2);
    expect((await chain.build()).requests).toEqual([]);
  });

  it("empties the queues of the request contracts over several blocks", async () => {
    const chain = await TestChain.open(optionsOf("prague"));
    const request = (account: number, fill: number) =>
      chain.sign(account, { to: WITHDRAWAL_REQUESTS_ADDRESS, value: 1n, data: new Uint8Array(56).fill(fill) });
    await chain.build();
    // The contract takes sixteen requests per block from its queue.
    const block = await chain.build(Array.from({ length: 20 }, (_, index) => request(index % 10, index)));
    expect(block.requests?.map(({ length }) => (length - 1) / 76)).toEqual([16]);
    expect((await chain.build()).requests?.map(({ length }) => (length - 1) / 76)).toEqual([4]);
    expect((await chain.build()).requests).toEqual([]);
    expect((await chain.build([], {})).requests).toEqual([]);
    const consolidation = { to: CONSOLIDATION_REQUESTS_ADDRESS, value: 1n, data: new Uint8Array(96).fill(1) };
    const { requests } = await chain.build([chain.sign(0, consolidation)]);
    expect(requests?.map(([type]) => type)).toEqual([2]);
  });

  it("credits withdrawals", async () => {
    const chain = await TestChain.open(optionsOf("shanghai"));
    const withdrawals = [
      { index: 0, validatorIndex: 1, address: addressOf(1), amount: 5n },
      { index: 1, validatorIndex: 2, address: addressOf(1), amount: 6n },
      { index: 2, validatorIndex: 3, address: addressOf(2), amount: 0n },
    ];
    const { world } = await chain.build([], { withdrawals });
    expect(chain.executor.reader.account(world, addressOf(1))?.balance).toBe(11n * 10n ** 9n);
    expect(chain.executor.reader.account(world, addressOf(2))).toBeUndefined();
  });

  it("skips transactions that are not valid or do not fit, and all later ones of their senders", async () => {
    const chain = await TestChain.open(optionsOf("prague"));
    const to = new Address(addressOf(1));
    const gap = chain.sign(0, { to, nonce: 5n });
    const afterGap = chain.sign(0, { to, nonce: 0n });
    const poor = chain.sign(1, { to, value: 10n ** 30n });
    const cheap = chain.sign(2, { to, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
    const large = chain.sign(3, { to, gasLimit: 30_000_001n });
    const good = chain.sign(4, { to, gasLimit: 30_000_000n });
    const block = await chain.build([gap, afterGap, poor, cheap, large, good]);
    expect(block.transactions).toEqual([good]);
    expect(block.header.gasUsed).toBe(21_000n);
    expect(block.value).toBe(21_000n * 2n * 10n ** 9n);
  });

  it("builds siblings and descendants on any parent", async () => {
    const chain = await TestChain.open(optionsOf("osaka"));
    const parent = await chain.build();
    const transfer = chain.sign(0, { to: new Address(addressOf(1)), value: 7n });
    const [empty, full] = await Promise.all([
      chain.executor.build(parent, chain.attributes()),
      chain.executor.build(parent, chain.attributes(), [transfer]),
    ]);
    expect(empty.header.number).toBe(full.header.number);
    expect(hexOf(empty.hash)).not.toBe(hexOf(full.hash));
    const child = await chain.executor.build(empty, chain.attributes({}, empty), [transfer]);
    expect(child.transactions.length).toBe(1);
    expect(chain.executor.reader.account(empty.world, addressOf(1))).toBeUndefined();
    expect(chain.executor.reader.account(full.world, addressOf(1))?.balance).toBe(7n);
  });

  it("changes forks and blob parameters by time", async () => {
    const start = 1_000_000;
    const chain = await TestChain.open(
      {
        ...optionsOf("paris", {
          shanghai: start + 24,
          cancun: start + 48,
          prague: start + 72,
          osaka: start + 96,
          amsterdam: start + 108,
        }),
        blobs: [
          { timestamp: start + 48, target: 3, max: 6, updateFraction: 3_338_477n },
          { timestamp: start + 120, target: 1, max: 2, updateFraction: 5_007_716n },
        ],
      },
      SCENARIO_ACCOUNTS,
    );
    const forks: string[] = [];
    // The pool may supply transactions that were decoded for an earlier fork.
    const transactions = Array.from({ length: 11 }, () => chain.sign(0, { to: new Address(addressOf(1)) }));
    for (let index = 0; index < 11; index++) {
      const parent = chain.head;
      const block = await chain.build([transactions[index]!]);
      expect(block.transactions.length).toBe(1);
      forks.push(chain.rules.at(block.header.timestamp).fork);
      const context = {
        ...contextOf(block),
        ...(block.header.excessBlobGas === undefined && { versionedHashes: undefined }),
      };
      expect(hexOf((await chain.executor.verify(parent, toPayload(block), context)).hash)).toBe(hexOf(block.hash));
    }
    expect(new Set(forks)).toEqual(new Set(["paris", "shanghai", "cancun", "prague", "osaka", "amsterdam"]));
    expect(chain.rules.at(start + 120).maxBlobGas).toBe(2n * 2n ** 17n);
  });

  it.each(["osaka", "amsterdam"] as const)("encodes and decodes blocks and receipts of %s", async (fork) => {
    const chain = await TestChain.open(optionsOf(fork), SCENARIO_ACCOUNTS);
    const parent = chain.head;
    const withdrawals = [{ index: 0, validatorIndex: 1, address: addressOf(1), amount: 5n }];
    const block = await chain.build(scenarioTransactions(chain, fork, 0), { withdrawals });
    const decoded = decodeBlock(encodeBlock(block), chain.rules);
    expect(hexOf(decoded.hash)).toBe(hexOf(block.hash));
    expect(decoded.header).toEqual(block.header);
    expect(decoded.withdrawals).toEqual(block.withdrawals);
    expect(decoded.requests).toEqual(block.requests);
    expect(decoded.blockAccessList).toEqual(block.blockAccessList);
    expect(decoded.transactions.map(({ hash, sender }) => [hexOf(hash), sender.toString()])).toEqual(
      block.transactions.map(({ hash, sender }) => [hexOf(hash), sender.toString()]),
    );
    expect(hexOf((await chain.executor.execute(parent, decoded)).hash)).toBe(hexOf(block.hash));
    expect(decodeReceipts(encodeReceipts(block.receipts), chain.rules.crypto.keccak)).toEqual(block.receipts);
    expect(block.receipts.some(({ contractAddress }) => contractAddress !== undefined)).toBe(true);
  });
});

describe.each(["osaka", "amsterdam"] as const)("a wrong payload of %s", (fork) => {
  let chain: TestChain;
  let parent: ExecutedBlock;
  let block: ExecutedBlock;
  /** First field that shows a difference in the state. */
  const state = fork === "amsterdam" ? "blockAccessList" : "stateRoot";

  beforeAll(async () => {
    chain = await TestChain.open(optionsOf(fork), SCENARIO_ACCOUNTS);
    parent = await chain.build();
    const deposit = { to: new Address(bytesOf("42".repeat(20))), value: 32n * 10n ** 18n, data: depositCall(1) };
    block = await chain.build([...scenarioTransactions(chain, fork, 0), chain.sign(0, deposit)]);
  });

  /** Returns the payload with the block hash updated to match its changed content. */
  function sealed(payload: ExecutionPayload, context: PayloadContext): ExecutionPayload {
    try {
      fromPayload(payload, context, chain.rules.at(payload.timestamp));
      return payload;
    } catch (error) {
      const hash = /the content has 0x([0-9a-f]+)/.exec((error as Error).message)?.[1];
      return hash === undefined ? payload : { ...payload, blockHash: bytesOf(hash) };
    }
  }

  async function fieldOf(changes: Partial<deneb.ExecutionPayload>, contextChanges: Partial<PayloadContext> = {}) {
    const context = { ...contextOf(block), ...contextChanges };
    const payload = sealed({ ...toPayload(block), ...changes }, context);
    return chain.executor.verify(parent, payload, context).then(
      () => "valid",
      (error: unknown) => (error instanceof InvalidBlockError ? error.field : Promise.reject(error)),
    );
  }

  it("is rejected with the name of the field", async () => {
    const payload = toPayload(block) as deneb.ExecutionPayload;
    const other = new Uint8Array(32).fill(9);
    expect(await fieldOf({})).toBe("valid");
    expect(await fieldOf({ parentHash: other })).toBe("parentHash");
    expect(await fieldOf({ blockNumber: 7 })).toBe("blockNumber");
    expect(await fieldOf({ timestamp: Number(parent.header.timestamp) })).toBe("timestamp");
    expect(await fieldOf({ gasLimit: payload.gasLimit + 40_000 })).toBe("gasLimit");
    expect(await fieldOf({ gasLimit: payload.gasLimit + 20_000 })).toBe("valid");
    expect(await fieldOf({ gasUsed: payload.gasUsed + 1 })).toBe("gasUsed");
    expect(await fieldOf({ gasUsed: payload.gasLimit + 1 })).toBe("gasUsed");
    expect(await fieldOf({ baseFeePerGas: 1n })).toBe("baseFeePerGas");
    expect(await fieldOf({ excessBlobGas: 1n })).toBe("excessBlobGas");
    expect(await fieldOf({ blobGasUsed: 0n })).toBe("blobGasUsed");
    expect(await fieldOf({ stateRoot: other })).toBe("stateRoot");
    expect(await fieldOf({ receiptsRoot: other })).toBe("receiptsRoot");
    expect(await fieldOf({ logsBloom: new Uint8Array(256) })).toBe("logsBloom");
    expect(await fieldOf({ extraData: new Uint8Array(33) })).toBe("extraData");
    expect(await fieldOf({ feeRecipient: addressOf(9) })).toBe(state);
    expect(await fieldOf({ transactions: payload.transactions.slice(0, -1) })).toBe("gasUsed");
    expect(await fieldOf({ transactions: [...payload.transactions, Uint8Array.of(2, 0xc0)] })).toMatch(
      /^transactions\[/,
    );
    expect(await fieldOf({ transactions: [...payload.transactions, payload.transactions[0]!] })).toMatch(
      /^transactions\[/,
    );
    expect(await fieldOf({ withdrawals: undefined })).toBe("withdrawals");
    expect(await fieldOf({}, { requests: [] })).toBe("executionRequests");
    expect(await fieldOf({}, { requests: undefined })).toBe("executionRequests");
    expect(await fieldOf({}, { versionedHashes: [] })).toBe("versionedHashes");
    expect(await fieldOf({}, { parentBeaconBlockRoot: undefined })).toBe("parentBeaconBlockRoot");
    expect(await fieldOf({}, { parentBeaconBlockRoot: other })).toBe(state);
  });

  it("is rejected if its block hash does not match the content", async () => {
    const payload = { ...toPayload(block), blockHash: new Uint8Array(32) };
    await expect(chain.executor.verify(parent, payload, contextOf(block))).rejects.toThrow(
      `Invalid blockHash: got 0x${"00".repeat(32)}, the content has 0x${hexOf(block.hash)}.`,
    );
  });

  it("has no effect: the right one is still valid", async () => {
    expect(await fieldOf({ stateRoot: new Uint8Array(32) })).toBe("stateRoot");
    const verified = await chain.executor.verify(parent, toPayload(block), contextOf(block));
    expect(hexOf(chain.rules.crypto.keccak(encodeHeader(verified.header)))).toBe(hexOf(block.hash));
  });
});
