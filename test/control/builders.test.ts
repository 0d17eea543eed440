import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateElectra, CachedBeaconStateGloas } from "@lodestar/state-transition";
import { toHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import type { DevBuilders } from "../../src/dev/builders/dev-builders.ts";
import type { DevTime } from "../../src/dev/control/time.ts";
import type { DutyTiming } from "../../src/dev/validators/duty-timing.ts";
import { createDevValidators } from "../../src/dev/validators/validators.ts";
import { fundedAccounts } from "../../src/evm/accounts.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { GLOAS } from "../support/chain/gloas-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { isFullTier } from "../support/suite/tier.ts";

const GWEI_PER_ETHER = 1_000_000_000;
const BUILDERS: Partial<DevNodeOptions> = {
  forks: GLOAS,
  genesisTime: 1_700_000_000,
  speed: 0,
  builders: { count: 1, balance: 100 * GWEI_PER_ETHER },
};
const ACTIVE = 4 * SLOTS_PER_EPOCH + 1;

async function open(options: Partial<DevNodeOptions> = {}, directory?: string) {
  const opened = await openDevChain({ ...BUILDERS, ...options }, directory);
  const caller = new Caller(opened.devChain.api);
  const slots = (count: number) => caller.call("dev_advance", [count]);
  const builder = async () => (await caller.call("dev_getBuilders"))[0]!;
  return { ...opened, chain: opened.devChain.chain, caller, slots, builder };
}

const ETHER = (count: number) => String(count * GWEI_PER_ETHER);

it.each([
  ["the built-in engine", {}],
  ["the EVM", { evm: { chainId: 31_337 } }],
])("registers builders by deposits before the fork, whose bids are paid, with %s", async (_, options) => {
  const forks = [
    { fork: "fulu" as const, epoch: 0 },
    { fork: "gloas" as const, epoch: 3 },
  ];
  const { caller, chain, slots, builder, complaints } = await open({ forks, ...options });
  expect((await caller.error("dev_getBuilders")).message).toContain("this chain is fulu until epoch 3.");
  await slots(2 * SLOTS_PER_EPOCH + 2);
  const [validator] = await caller.call("dev_deposit");
  await slots(SLOTS_PER_EPOCH - 2);
  expect(await caller.call("dev_getBuilders")).toMatchObject([{ status: "pending", balance: ETHER(100) }]);
  const { pendingDeposits } = chain.headState as CachedBeaconStateElectra;
  expect(pendingDeposits.getAllReadonly().map(({ pubkey }) => toHex(pubkey))).toEqual([validator!.data.pubkey]);
  // An epoch earlier than by a deposit after the fork.
  await slots(2 * SLOTS_PER_EPOCH);
  expect(await caller.call("dev_getBuilders")).toMatchObject([{ status: "active", balance: ETHER(100) }]);

  await caller.call("dev_bid", [0, ETHER(1), 2]);
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
  await caller.call("dev_advance", { until: "builder_paid" });
  await slots(3);
  expect(await builder()).toMatchObject({ balance: ETHER(98), pending_payments: "0" });
  await caller.call("dev_topUpBuilder", [0, ETHER(3)]);
  await slots(2);
  expect(await builder()).toMatchObject({ balance: ETHER(101) });
  await caller.call("dev_exitBuilder", [0]);
  await slots(2);
  expect(await builder()).toMatchObject({ status: "exiting" });
  expect(complaints).toEqual([]);
});

it("registers builders by deposits after the fork if there were no blocks before it", async () => {
  const forks = [
    { fork: "fulu" as const, epoch: 0 },
    { fork: "gloas" as const, epoch: 2 },
  ];
  const { caller, chain, slots, complaints } = await open({ forks, evm: { chainId: 31_337 } });
  await slots(3);
  await caller.call("dev_skip", [2 * SLOTS_PER_EPOCH]);
  await slots(4);
  expect(await caller.call("dev_getBuilders")).toMatchObject([{ status: "pending", balance: ETHER(100) }]);
  expect((chain.headState as CachedBeaconStateElectra).pendingDeposits.length).toBe(0);
  expect(complaints).toEqual([]);
});

it("withdraws the balance of a builder that exited", async () => {
  const { caller, slots, builder } = await open({
    configOverrides: { MIN_BUILDER_WITHDRAWABILITY_DELAY: "1" },
  });
  await slots(ACTIVE);
  await caller.call("dev_exitBuilder", [0]);
  await slots(2);
  expect(await builder()).toMatchObject({ status: "exiting" });
  await slots(2 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ status: "exited", balance: "0" });
});

it("pays for a payload that was revealed late only once, and nothing if the block is reverted", async () => {
  const { caller, slots, builder } = await open();
  await slots(ACTIVE);
  const id = await caller.call("dev_snapshot");
  await caller.call("dev_bid", [0, ETHER(1)]);
  await caller.call("dev_withholdBuilderPayloads", [0]);
  await slots(1);
  expect(await caller.call("dev_revealPayload")).toMatchObject({ is_imported: true });
  await slots(3 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ balance: ETHER(99), pending_payments: "0" });
  await caller.call("dev_revert", [id]);
  expect(await builder()).toMatchObject({ balance: ETHER(100), last_bid: null });
  await slots(2);
  expect(await builder()).toMatchObject({ balance: ETHER(100), pending_payments: "0", last_bid: null });
});

it("does not charge for a withheld payload whose block too few validators attested to", async () => {
  const { caller, slots, builder } = await open();
  await slots(ACTIVE);
  await caller.call("dev_bid", [0, ETHER(1)]);
  await caller.call("dev_withholdBuilderPayloads", [0]);
  await caller.call("dev_delayBlocks", [1]);
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
  await slots(3 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ balance: ETHER(100), pending_payments: "0" });
});

it("keeps the first of two bids for a slot", async () => {
  const { caller, chain, slots, builder, complaints } = await open();
  await slots(ACTIVE);
  await caller.call("dev_bid", { builder: 0, value: ETHER(1), equivocate: true });
  await slots(1);
  const { last_bid: bid } = await builder();
  expect(bid).toEqual({
    slot: String(chain.head.slot),
    value: ETHER(1),
    outcome: "taken",
    reason: null,
    second_bid: `Builder 0 has already made another bid for slot ${chain.head.slot}, of ${ETHER(1)} Gwei. Only its first one counts.`,
  });
  await slots(3);
  expect(await builder()).toMatchObject({ balance: ETHER(99) });
  expect(complaints).toEqual([]);
});

it("bids in all slots until told otherwise", async () => {
  const { caller, chain, slots, builder, complaints } = await open();
  const affected = await caller.call("dev_bid", { builder: 0, value: 1_000_000, slots: "all" });
  expect(affected).toEqual({ from_slot: "1", until_slot: null });
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "refused", reason: "Builder 0 is not active." } });
  // The builder is active from the start of the epoch on.
  await slots(ACTIVE - 1 + 2 * SLOTS_PER_EPOCH);
  expect(chain.headNode.payloadStatus).toBe("full");
  await caller.call("dev_bid", { builder: 0, value: 0, slots: 0 });
  const paid = 100 * GWEI_PER_ETHER - Number((await builder()).balance) + Number((await builder()).pending_payments);
  expect(paid).toBe((2 * SLOTS_PER_EPOCH + 2) * 1_000_000);
  const { last_bid: last } = await builder();
  await slots(2);
  expect((await builder()).last_bid).toEqual(last);
  expect(complaints).toEqual([]);
});

it("falsifies the payloads of builders, which pay for those that the chain could not use", async () => {
  const { caller, slots, builder, complaints } = await open();
  await slots(ACTIVE);
  await caller.call("dev_bid", [0, ETHER(1), 1]);
  await caller.call("dev_falsifyPayloads", { kind: "invalid" });
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
  expect(await caller.call("dev_getPayload")).toMatchObject({ payload_status: "empty", is_invalid: true });
  await slots(3 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ balance: ETHER(99) });
  expect(complaints).toEqual([expect.stringContaining("rejected the payload of a block")]);
});

it("leaves the transactions of a payload that a builder withholds to the next block, with the EVM", async () => {
  const { caller, slots, builder, complaints } = await open({ evm: { chainId: 31_337 } });
  await slots(ACTIVE);
  const [from, to] = fundedAccounts().map(({ address }) => address);
  const hash = await caller.call("eth_sendTransaction", [{ from, to, value: "0x1" }]);
  const number = await caller.call("eth_blockNumber");
  await caller.call("dev_bid", [0, ETHER(1)]);
  await caller.call("dev_withholdBuilderPayloads", [0]);
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
  expect(await caller.call("eth_getTransactionReceipt", [hash])).toBeNull();
  expect(await caller.call("eth_blockNumber")).toBe(number);
  expect((await caller.call("dev_getPayload")).is_withheld).toBe(true);
  await slots(1);
  const receipt = await caller.call("eth_getTransactionReceipt", [hash]);
  expect([receipt?.status, Number(receipt?.blockNumber)]).toEqual(["0x1", Number(number) + 1]);
  await slots(3 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ balance: ETHER(99), pending_payments: "0" });
  expect(complaints).toEqual([]);
});

it("bids with the gas limit of the payload before a withheld one, with the EVM", async () => {
  const { caller, chain, slots, builder } = await open({ evm: { chainId: 31_337 } });
  await slots(ACTIVE);
  const { gasLimit: before } = (await caller.call("eth_getBlockByNumber", ["latest", false]))!;
  await caller.call("evm_setBlockGasLimit", ["0x1312d00"]);
  await caller.call("dev_withholdPayloads");
  await slots(1);
  const preState = await chain.states.afterBlock(chain.head.root, chain.head.slot + 1);
  const { gasLimit } = await chain.parentPayloads.baseFor(preState, { root: chain.head.root, payloadStatus: "empty" });
  expect([gasLimit, (preState as CachedBeaconStateGloas).latestExecutionPayloadBid.gasLimit]).toEqual([
    BigInt(before),
    20_000_000n,
  ]);
  // The changed limit is far from that of the parent.
  await caller.call("dev_bid", [0, ETHER(1)]);
  await slots(1);
  const reason = expect.stringContaining(`is too far from its parent's, ${gasLimit}.`);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "refused", reason } });
});

if (isFullTier) {
  it("bids and reveals in real time", async () => {
    const { caller, chain, devChain, slots, builder, complaints } = await open({ activeValidators: [] });
    const { api, clock, config, keys, control } = devChain;
    const logger = createRecordingLogger();
    const builderBids = (control.builders as DevBuilders).bids;
    const fastPath = { chain, isAllowed: () => false };
    const validators = createDevValidators({ api, clock, config, keys, logger, builderBids, fastPath });
    onTestFinished(() => validators.close());
    chain.events.on("head", (head) => validators.onHead(head));
    let timing: DutyTiming = "lockstep";
    (control.time as DevTime).onSlot((slot) => validators.onSlot(slot, timing));
    await slots(ACTIVE);
    const payloads: [builder: number, time: number][] = [];
    chain.events.on("payload", ({ builderIndex }) =>
      payloads.push([builderIndex, clock.nowSeconds() - clock.slotStartSeconds(clock.currentSlot)]),
    );
    timing = "clock";
    await caller.call("dev_bid", [0, ETHER(1), 2]);
    await slots(1);
    expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
    expect(chain.headNode.payloadStatus).toBe("full");
    await caller.call("dev_withholdBuilderPayloads", [0]);
    await slots(1);
    expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" }, pending_payments: ETHER(1) });
    expect(await caller.call("dev_getPayload")).toMatchObject({
      payload_status: "empty",
      votes: { payload_present: "0" },
    });
    await slots(1);
    expect(payloads).toEqual([
      [0, 0],
      [Number.POSITIVE_INFINITY, 0],
    ]);
    timing = "lockstep";
    await slots(3 * SLOTS_PER_EPOCH);
    expect(await builder()).toMatchObject({ balance: ETHER(98), pending_payments: "0" });
    expect(logger.records.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
    expect(complaints).toEqual([]);
  });
}

it("keeps payments across a restart between the block and its payload", async () => {
  const directory = tempDirectory();
  const first = await open({}, directory);
  await first.slots(ACTIVE);
  await first.caller.call("dev_bid", [0, ETHER(1)]);
  await first.caller.call("dev_withholdBuilderPayloads", [0]);
  await first.slots(1);
  const { slot } = first.chain.head;
  await first.close();

  const { caller, slots, builder, chain } = await open({}, directory);
  expect(chain.head.slot).toBe(slot);
  expect(await builder()).toMatchObject({ pending_payments: ETHER(1), last_bid: null });
  await slots(3 * SLOTS_PER_EPOCH);
  expect(await builder()).toMatchObject({ balance: ETHER(99), pending_payments: "0" });
  await caller.call("dev_bid", [0, ETHER(1)]);
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
});

it("takes bids while other parts listen to the votes, so that the duties go through the API", async () => {
  const { caller, chain, slots, builder, complaints } = await open();
  await slots(ACTIVE);
  chain.events.on("attestation", () => {});
  await caller.call("dev_bid", [0, ETHER(1)]);
  await slots(1);
  expect(await builder()).toMatchObject({ last_bid: { outcome: "taken" } });
  expect(chain.headNode.payloadStatus).toBe("full");
  await slots(2);
  expect(await builder()).toMatchObject({ balance: ETHER(99) });
  expect(complaints).toEqual([]);
});
