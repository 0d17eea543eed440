import type { electra } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { createTestClient, type EIP1193RequestFn, http } from "viem";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { type OpenedDevChain, startDevChain } from "../support/chain/dev-chain.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";

const SLOT_SECONDS = 6;

const directory = removableDirectory();
let opened: OpenedDevChain;
let served: ServedApi;
beforeAll(async () => {
  opened = await startDevChain(
    { forks: [{ fork: "fulu", epoch: 0 }], slotSeconds: SLOT_SECONDS, speed: 0 },
    directory.path,
  );
  await opened.devChain.run();
  served = await serveApi(opened.devChain.api);
});
afterAll(async () => {
  await served?.close();
  await opened?.close();
  directory.remove();
});

function connect(mode: "anvil" | "hardhat" | "ganache") {
  return createTestClient({ mode, transport: http(served.jsonRpcUrl, { retryCount: 0 }) });
}

/** Methods without an action in viem. */
function request(method: string, params: unknown[] = []): Promise<unknown> {
  return (connect("anvil").request as EIP1193RequestFn)({ method, params } as never);
}

const slot = () => opened.devChain.clock.currentSlot;
const headSlot = () => opened.devChain.chain.head.slot;
const startOf = (at: number) => opened.devChain.clock.slotStartSeconds(at);

/** Slots with blocks after a slot. */
async function blocksSince(from: number): Promise<number[]> {
  const { chain } = opened.devChain;
  const found: number[] = [];
  for (let at = from + 1; at <= slot(); at++) if (await chain.blocks.canonicalAtSlot(at)) found.push(at - from);
  return found;
}

let before: number;
beforeEach(() => {
  before = slot();
});

it("reorgs the last blocks by Anvil's method", async () => {
  await connect("anvil").mine({ blocks: 3 });
  expect(await request("anvil_reorg", [2, []])).toBe(null);
  expect((await blocksSince(before)).slice(0, 3)).toEqual([1, 4, 5]);
});

it.each(["anvil", "hardhat"] as const)(
  "mines blocks in mode %s, with empty slots for longer intervals",
  async (mode) => {
    const client = connect(mode);
    await client.mine({ blocks: 2 });
    await client.mine({ blocks: 2, interval: SLOT_SECONDS });
    expect(await blocksSince(before)).toEqual([1, 2, 3, 4]);
    await client.mine({ blocks: 2, interval: 2 * SLOT_SECONDS + 1 });
    expect(await blocksSince(before + 4)).toEqual([3, 6]);
    await client.mine({ blocks: 0 });
    expect(slot()).toBe(before + 10);
  },
);

it("mines blocks in mode ganache and by the calls of older tools", async () => {
  await connect("ganache").mine({ blocks: 2 });
  expect(await request("evm_mine")).toBe("0x0");
  expect(await request("anvil_mine")).toBeNull();
  expect(await request("hardhat_mine", [2])).toBeNull();
  expect(await blocksSince(before)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await request("evm_mine", [startOf(before + 9)])).toBe("0x0");
  expect(await request("evm_mine", [{ timestamp: startOf(before + 12), blocks: "0x2" }])).toBe("0x0");
  expect(await blocksSince(before + 6)).toEqual([3, 6, 7]);
});

it("increases the time by whole slots", async () => {
  const client = connect("anvil");
  expect(await client.increaseTime({ seconds: 3 * SLOT_SECONDS + 1 })).toBe("0x12");
  expect([slot(), headSlot()]).toEqual([before + 3, before]);
  expect(await client.increaseTime({ seconds: SLOT_SECONDS - 1 })).toBe("0x0");
  await client.mine({ blocks: 1 });
  expect([slot(), headSlot()]).toEqual([before + 4, before + 4]);
});

it("sets the time of the next block", async () => {
  const client = connect("anvil");
  await client.setNextBlockTimestamp({ timestamp: BigInt(startOf(before + 5)) });
  expect(await blocksSince(before)).toEqual([]);
  await client.mine({ blocks: 1 });
  expect(await blocksSince(before)).toEqual([5]);
  const { chain, config } = opened.devChain;
  const { message } = (await chain.blocks.signedByRoot(chain.head.root))!;
  const { executionPayload: payload } = message.body as electra.BeaconBlockBody;
  expect(await request("anvil_nodeInfo")).toEqual({
    currentBlockNumber: `0x${payload.blockNumber.toString(16)}`,
    currentBlockTimestamp: startOf(before + 5),
    currentBlockHash: toRootHex(payload.blockHash),
    hardFork: "Osaka",
    transactionOrder: "fees",
    environment: {
      baseFee: `0x${payload.baseFeePerGas.toString(16)}`,
      chainId: config.DEPOSIT_CHAIN_ID,
      gasLimit: `0x${payload.gasLimit.toString(16)}`,
    },
    forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
    beacon: { slot: String(before + 5), root: chain.head.root, fork: "fulu" },
  });
});

it("rounds timestamps up to the next slot", async () => {
  const client = connect("anvil");
  await client.setNextBlockTimestamp({ timestamp: BigInt(startOf(before) + 1) });
  await client.mine({ blocks: 1 });
  expect(await blocksSince(before)).toEqual([1]);
  await client.setNextBlockTimestamp({ timestamp: BigInt(startOf(before + 2) + 1) });
  await client.mine({ blocks: 1 });
  expect(await request("evm_mine", [startOf(before + 5) - 1])).toBe("0x0");
  expect(await blocksSince(before)).toEqual([1, 3, 5]);
});

it("pauses and resumes the clock", async () => {
  const client = connect("anvil");
  expect(await client.getAutomine()).toBe(false);
  expect(await request("anvil_getIntervalMining")).toBeNull();
  await client.setIntervalMining({ interval: 0.01 });
  expect(await client.getAutomine()).toBe(true);
  expect(await request("anvil_getIntervalMining")).toBe(0.01);
  await opened.devChain.clock.untilSlot(before + 3);
  await client.setIntervalMining({ interval: 0 });
  expect(await connect("hardhat").getAutomine()).toBe(false);
  const stopped = slot();
  expect(headSlot()).toBe(stopped);

  await client.setAutomine(true);
  expect(await request("anvil_getIntervalMining")).toBe(0.01);
  await opened.devChain.clock.untilSlot(stopped + 2);
  await client.setAutomine(false);
  expect(await client.getAutomine()).toBe(false);

  const ganache = connect("ganache");
  await ganache.setAutomine(true);
  expect(await ganache.getAutomine()).toBe(true);
  await ganache.setAutomine(false);
  expect(await ganache.getAutomine()).toBe(false);
  expect(opened.complaints).toEqual([]);
});

it("reverts to snapshots", async () => {
  const client = connect("anvil");
  const { root } = opened.devChain.chain.head;
  const id = await client.snapshot();
  expect(id).toMatch(/^0x[1-9a-f][0-9a-f]*$/);
  await client.mine({ blocks: 3, interval: 2 * SLOT_SECONDS });
  await client.revert({ id });
  expect([slot(), opened.devChain.chain.head.root]).toEqual([before, root]);
  await expect(client.revert({ id })).rejects.toMatchObject({
    details: expect.stringContaining(`No snapshot ${id}`),
  });
  await client.mine({ blocks: 1 });
  expect(await blocksSince(before)).toEqual([1]);
});

it.each(["anvil", "hardhat"] as const)("dumps the chain and loads it again in mode %s", async (mode) => {
  const client = connect(mode);
  const { root } = opened.devChain.chain.head;
  const state = await client.dumpState();
  await client.mine({ blocks: 2 });
  await client.loadState({ state });
  expect([slot(), opened.devChain.chain.head.root]).toEqual([before, root]);
  await client.mine({ blocks: 1 });
  expect(await blocksSince(before)).toEqual([1]);
});

it("loads a dump of the maximum request size", async () => {
  const state = `0x${"00".repeat(2 ** 20)}` as const;
  await expect(connect("anvil").loadState({ state })).rejects.toMatchObject({
    details: expect.stringContaining("The dump cannot be loaded"),
  });
  await expect(request("dev_load", [state])).rejects.toMatchObject({
    details: expect.stringContaining("The dump cannot be loaded"),
  });
});

it("rejects invalid calls without an effect", async () => {
  const client = connect("anvil");
  const past = startOf(before);
  const wrong: [() => Promise<unknown>, string][] = [
    [() => client.mine({ blocks: 65_537 }), "a number of blocks from 0 to 65536"],
    [() => client.mine({ blocks: 65_536, interval: 7 }), "at most 65536 slots, but this one needs 131072"],
    [() => client.increaseTime({ seconds: 65_537 * SLOT_SECONDS }), "at most 65536 slots, but this one needs 65537"],
    [() => client.setNextBlockTimestamp({ timestamp: BigInt(past) }), `the next slot starts at ${past + SLOT_SECONDS}`],
    [() => client.setNextBlockTimestamp({ timestamp: BigInt(startOf(before + 70_000)) }), "but this one needs 69999"],
    [
      () => client.setIntervalMining({ interval: 1e-6 }),
      "A slot must take at least 0.000006 seconds, but 0.000001 was given.",
    ],
    [() => request("evm_mine", [{ blokcs: 1 }]), "timestamp"],
    [() => request("evm_mine", [{ blocks: "0xzz" }]), "blocks"],
  ];
  for (const [call, message] of wrong) {
    await expect(call()).rejects.toMatchObject({ code: -32602, details: expect.stringContaining(message) });
  }
  await expect(client.setBalance({ address: `0x${"11".repeat(20)}`, value: 1n })).rejects.toMatchObject({
    code: -32004,
  });
  expect(slot()).toBe(before);
});

it("returns to genesis", async () => {
  await connect("anvil").mine({ blocks: 2 });
  for (const mode of ["anvil", "hardhat"] as const) {
    await connect(mode).reset();
    expect([slot(), headSlot()]).toEqual([0, 0]);
    await connect(mode).mine({ blocks: 2 });
    expect(await blocksSince(0)).toEqual([1, 2]);
  }
});
