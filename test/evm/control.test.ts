import { expect, it } from "vitest";
import type { NetworkSettings } from "../../src/network/network-settings.ts";
import { account, GWEI, hexOf, openEvmChain, signed } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { isFullTier } from "../support/suite/tier.ts";
import { expectVerified } from "./evm-verifier.ts";

const OTHER = new Uint8Array(20).fill(0x77);
const CONTRACT = `0x${"c0".repeat(20)}`;
const ETHER = 10n ** 18n;
/** Never started. */
const NETWORKING: NetworkSettings = {
  address: "127.0.0.1",
  port: 0,
  discovery: false,
  bootnodes: [],
  directPeers: [],
  targetPeers: 1,
  supernode: false,
};
const quantity = (value: bigint | number) => `0x${value.toString(16)}`;

/** A chain that runs, with its time paused. */
async function openRunning(directory?: string) {
  const opened = await openEvmChain({}, directory);
  await opened.devChain.run();
  return opened;
}

it("advances a slot for each transaction while the clock is paused", async () => {
  const { engine, call, chain, expectHealth } = await openRunning();
  const send = (from: number, value: number) =>
    call("eth_sendTransaction", [
      { from: hexOf(account(from).address), to: hexOf(OTHER), value: quantity(value), gas: "0x5208" },
    ]);
  const hash = await send(0, 1);
  expect(await call("eth_getTransactionReceipt", [hash])).toMatchObject({ blockNumber: "0x1", status: "0x1" });
  expect([chain.head.slot, await call("eth_getBalance", [hexOf(OTHER)])]).toEqual([1, "0x1"]);
  await call("eth_sendRawTransaction", [hexOf(signed(engine, 1, { to: OTHER, value: 1n }))]);
  expect(chain.head.slot).toBe(2);
  // Concurrent ones share blocks.
  await Promise.all(Array.from({ length: 6 }, (_, index) => send(index, 1)));
  expect(await call("eth_getBalance", [hexOf(OTHER)])).toBe("0x8");
  expect(chain.head.slot).toBeLessThanOrEqual(4);
  const { slot } = chain.head;
  // Nothing can be included before the nonce gap is filled.
  await call("eth_sendRawTransaction", [hexOf(signed(engine, 9, { to: OTHER, value: 1n, nonce: 1n }))]);
  expect(chain.head.slot).toBe(slot);
  expect(await call("anvil_getAutomine")).toBe(true);
  await call("evm_setAutomine", [false]);
  await send(9, 1);
  expect([chain.head.slot, await call("anvil_getAutomine")]).toEqual([slot, false]);
  await call("evm_mine");
  expect(await call("eth_getBalance", [hexOf(OTHER)])).toBe("0xa");
  expectHealth();
});

it("mines a transaction although the proposer of the next slot is slashed, and leaves it in the pool without proposers", async () => {
  const { call, chain } = await openRunning();
  const send = (value: number) =>
    call("eth_sendTransaction", [
      { from: hexOf(account(0).address), to: hexOf(OTHER), value: quantity(value), gas: "0x5208" },
    ]);
  await call("dev_advance");
  const duties: { slot: string; validator_index: string }[] = await call("get_v1_validator_duties_proposer", ["0"]);
  await call("dev_slash", [duties.find(({ slot }) => slot === "3")!.validator_index]);
  await call("dev_advance");
  const hash = await send(5);
  expect(await call("eth_getTransactionReceipt", [hash])).toMatchObject({ blockNumber: "0x3", status: "0x1" });
  expect(chain.head.slot).toBeGreaterThan(3);
  // A chain whose next slot is empty reaches its next block.
  await call("dev_setValidators", { offline: "all" });
  const pooled = await send(6);
  expect(await call("eth_getTransactionReceipt", [pooled])).toBeNull();
  await call("dev_setValidators", { online: "all" });
  const { head_slot } = await call("dev_advance", { until: "block" });
  expect(Number(head_slot)).toBe(chain.head.slot);
  expect(await call("eth_getTransactionReceipt", [pooled])).toMatchObject({ blockNumber: "0x4" });
});

it("supports Anvil's control methods, and keeps their effects in snapshots, dumps, branches and after a crash", async () => {
  const directory = tempDirectory();
  const first = await openRunning(directory);
  const { call, advance } = first;
  await advance(2);
  await call("anvil_setBalance", [CONTRACT, quantity(2n * ETHER)]);
  await call("hardhat_setCode", [CONTRACT, "0x3460005500"]);
  await call("hardhat_setNonce", [CONTRACT, "0x7"]);
  await call("anvil_setStorageAt", [CONTRACT, "0x1", quantity(5)]);
  await call("anvil_setNextBlockBaseFeePerGas", [quantity(3n * GWEI)]);
  await call("evm_setBlockGasLimit", [quantity(50_000_000)]);
  await call("anvil_setCoinbase", [hexOf(OTHER)]);
  await call("anvil_impersonateAccount", [CONTRACT]);
  const state = async (caller: typeof call) => [
    await caller("eth_getBalance", [CONTRACT, "latest"]),
    await caller("eth_getCode", [CONTRACT]),
    await caller("eth_getTransactionCount", [CONTRACT]),
    await caller("eth_getStorageAt", [CONTRACT, "0x1", "latest"]),
  ];
  const slotValue = `0x${"5".padStart(64, "0")}`;
  const overridden = [quantity(2n * ETHER), "0x3460005500", "0x7", slotValue];
  expect(await state(call)).toEqual(overridden);
  expect(await call("eth_getBalance", [CONTRACT, "0x1"])).toBe("0x0");
  const snapshot = await call("evm_snapshot");
  const dump = await call("anvil_dumpState");
  await advance(1);
  const header = await call("eth_getBlockByNumber", ["latest", false]);
  expect([header.baseFeePerGas, header.gasLimit, header.miner]).toEqual([
    quantity(3n * GWEI),
    quantity(50_000_000),
    hexOf(OTHER),
  ]);
  expect(await state(call)).toEqual(overridden);
  await call("evm_revert", [snapshot]);
  expect(await state(call)).toEqual(overridden);
  await call("anvil_setBalance", [CONTRACT, "0x0"]);
  await advance(1);
  await call("anvil_loadState", [dump]);
  expect(await state(call)).toEqual(overridden);
  // An impersonated contract calls itself.
  const transaction = { from: CONTRACT, to: CONTRACT, value: "0x9", gas: "0x186a0", gasPrice: quantity(4n * GWEI) };
  const hash = await call("eth_sendTransaction", [transaction]);
  expect(await call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1", from: CONTRACT });
  expect(BigInt(await call("eth_getStorageAt", [CONTRACT, "0x0", "latest"]))).toBe(9n);
  await call("dev_reorg", { depth: 1 });
  expect(await call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
  // Blocks that contain votes for the new branch.
  await advance(2);
  const before = await state(call);
  expect(before.slice(1)).toEqual(["0x3460005500", "0x8", slotValue]);
  const { stateRoot } = await call("eth_getBlockByNumber", ["latest", false]);
  first.expectHealth();
  await first.abandon();
  const second = await openRunning(directory);
  expect(await second.call("eth_getBlockByNumber", ["latest", false])).toMatchObject({ stateRoot });
  expect(await state(second.call)).toEqual(before);
  await second.call("anvil_stopImpersonatingAccount", [CONTRACT]);
  expect(await second.error("eth_sendTransaction", [transaction])).toMatchObject({
    message: expect.stringMatching(new RegExp(`^unknown account ${CONTRACT}: .* anvil_impersonateAccount allows`)),
  });
  await second.call("anvil_autoImpersonateAccount", [true]);
  await second.call("eth_sendTransaction", [transaction]);
  expect(await second.call("eth_getTransactionCount", [CONTRACT])).toBe("0x9");
  expect(await second.call("eth_getBlockByNumber", ["latest", false])).toMatchObject({ miner: hexOf(OTHER) });
  second.expectHealth();
  await second.close();
  await expect(openEvmChain({ networking: NETWORKING, speed: 1 }, directory)).rejects.toMatchObject({
    kind: "unverifiableState",
    message: expect.stringContaining("nodes that join it (--p2p) could not verify its blocks"),
  });
});

if (isFullTier) {
  it("opens a chain for other nodes before its state is changed, but not while a change waits", async () => {
    const directory = tempDirectory();
    const first = await openRunning(directory);
    await first.advance(1);
    await first.close();
    const second = await openEvmChain({ networking: NETWORKING, speed: 1 }, directory);
    expect(await second.error("anvil_setBalance", [CONTRACT, "0x1"])).toMatchObject({
      message: expect.stringContaining("--p2p"),
    });
    await second.close();
    const third = await openRunning(directory);
    await third.call("anvil_setBalance", [CONTRACT, "0x1"]);
    await third.close();
    const opening = openEvmChain({ networking: NETWORKING, speed: 1 }, directory);
    await expect(opening).rejects.toMatchObject({ kind: "unverifiableState" });
  });
}

it("mines at once only while the clock is paused", async () => {
  const { call, error } = await openRunning();
  await call("dev_resume");
  expect(await call("anvil_getAutomine")).toBe(false);
  expect(await error("evm_setAutomine", [true])).toMatchObject({
    code: -32003,
    message: expect.stringMatching(
      /while it runs, a transaction waits for the next slot. Pause it first, with dev_pause/,
    ),
  });
  await call("evm_setAutomine", [false]);
  await call("dev_pause");
  expect(await call("anvil_getAutomine")).toBe(false);
  await call("evm_setAutomine", [true]);
  expect(await call("anvil_getAutomine")).toBe(true);
});

it("returns to genesis, and a snapshot from before stays valid", async () => {
  const { call, error, advance, chain, devChain, expectHealth } = await openRunning();
  const { genesis, config } = chain;
  const send = () =>
    call("eth_sendTransaction", [{ from: hexOf(account(0).address), to: hexOf(OTHER), value: "0x5", gas: "0x5208" }]);
  const summary = async () => [
    chain.clock.currentSlot,
    chain.head.slot,
    chain.finalizedCheckpoint.epoch,
    await call("eth_blockNumber"),
    await call("eth_getBalance", [hexOf(OTHER)]),
    await call("eth_getBalance", [CONTRACT]),
    await call("txpool_status"),
  ];
  const info = () => call("anvil_nodeInfo");
  const block0 = await call("eth_getBlockByNumber", ["0x0", false]);
  await call("anvil_setBalance", [CONTRACT, "0x7"]);
  await call("anvil_setCoinbase", [`0x${"cb".repeat(20)}`]);
  await send();
  await call("dev_skip", { slots: 1 });
  await advance(40);
  await call("evm_setAutomine", [false]);
  await send();
  const before = await summary();
  expect(before).toEqual([42, 42, expect.any(Number), "0x29", "0x5", "0x7", { pending: "0x1", queued: "0x0" }]);
  expect(before[2]).toBeGreaterThan(1);
  expect(await info()).toMatchObject({
    currentBlockNumber: "0x29",
    currentBlockTimestamp: genesis.time + 42 * config.SECONDS_PER_SLOT,
    hardFork: "Osaka",
    environment: { chainId: 31_337, gasLimit: block0.gasLimit },
    beacon: { slot: "42", root: chain.head.root, fork: "fulu" },
  });
  const snapshot = await call("evm_snapshot");

  expect(await error("anvil_reset", [{ forking: { jsonRpcUrl: "http://127.0.0.1:1", blockNumber: 5 } }])).toMatchObject(
    {
      code: -32004,
      message: 'Forking another chain is not supported. Leave out "jsonRpcUrl" and "blockNumber" to return to genesis.',
    },
  );
  await call("hardhat_reset", [{ forking: { blockNumber: null } }]);
  expect(await summary()).toEqual([0, 0, 0, "0x0", "0x0", "0x0", { pending: "0x0", queued: "0x0" }]);
  expect(await info()).toMatchObject({ currentBlockNumber: "0x0", currentBlockHash: block0.hash });
  const hash = await send();
  await advance(40);
  expect(chain.finalizedCheckpoint.epoch).toBeGreaterThan(1);
  const receipt = await call("eth_getTransactionReceipt", [hash]);
  expect(receipt).toMatchObject({ blockNumber: "0x1", status: "0x1" });
  expect((await call("eth_getBlockByNumber", ["0x1", false])).miner).toBe(`0x${"00".repeat(20)}`);
  const verifier = await expectVerified(devChain);
  expect(verifier.blocks.size).toBe(40);

  await call("evm_revert", [snapshot]);
  expect(await summary()).toEqual(before);
  await advance(1);
  expect(await call("eth_getBalance", [hexOf(OTHER)])).toBe("0xa");
  expectHealth();
});

it("drops pooled transactions", async () => {
  const { engine, call } = await openRunning();
  await call("evm_setAutomine", [false]);
  const sent = [0, 1, 2].map((from) => hexOf(signed(engine, from, { to: OTHER, value: 1n })));
  const [hash] = await Promise.all(sent.map((raw) => call("eth_sendRawTransaction", [raw])));
  expect(await call("anvil_dropTransaction", [hash])).toBe(hash);
  expect(await call("anvil_dropTransaction", [hash])).toBeNull();
  await call("anvil_removePoolTransactions", [hexOf(account(1).address)]);
  expect(await call("txpool_status")).toEqual({ pending: "0x1", queued: "0x0" });
  await call("anvil_dropAllTransactions");
  expect(await call("txpool_status")).toEqual({ pending: "0x0", queued: "0x0" });
});

it("does not bring back replaced or unaffordable transactions after a crash", async () => {
  const directory = tempDirectory();
  const first = await openEvmChain({}, directory);
  const { call, send } = first;
  const transfer = { to: OTHER, value: 1n, nonce: 0n };
  await send(0, transfer);
  const replacement = await send(0, { ...transfer, maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 10n * GWEI });
  expect(await call("anvil_dropTransaction", [hexOf(replacement.hash)])).toBe(hexOf(replacement.hash));
  await send(1, transfer);
  const address = hexOf(account(1).address);
  await call("anvil_setBalance", [address, "0x1"]);
  await call("anvil_setBalance", [address, quantity(ETHER)]);
  const kept = await send(2, transfer);
  expect(await first.pooled()).toBe(1);
  await first.abandon();
  const second = await openEvmChain({}, directory);
  expect(await second.pooled()).toBe(1);
  await second.advance(1);
  expect(await second.included()).toEqual([hexOf(kept.raw)]);
  await second.close();
});
