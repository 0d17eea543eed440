import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished } from "vitest";
import { advance, openDevChain, QUIET } from "../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import type { BeaconChain } from "../chain/chain.ts";
import { Notifier } from "./notifier.ts";

type NotifierParts = ConstructorParameters<typeof Notifier>[0];

/** Creates timers whose real time advances by `slotMs` with every slot. */
function steadyTime(chain: NotifierParts["chain"], slotMs: number) {
  const time = { now: 0, slotMs };
  const stop = chain.clock.onSlot(() => {
    time.now += time.slotMs;
  });
  onTestFinished(stop);
  return { time, timers: { now: () => time.now } };
}

function notify(chain: NotifierParts["chain"], parts: Partial<NotifierParts> & { slotMs?: number } = {}) {
  const { time, timers } = steadyTime(chain, parts.slotMs ?? 2000);
  const logger = createRecordingLogger();
  const notifier = new Notifier({ chain, needsPeers: false, logger, timers, ...parts });
  onTestFinished(() => notifier.close());
  const lines = () => logger.records.filter(({ message }) => message === "Slot").map(({ fields }) => fields);
  const alarms = () => logger.records.filter(({ message }) => message !== "Slot");
  return { time, lines, alarms, notifier };
}

for (const fork of ["phase0", "altair", "gloas"] as const) {
  it(`logs one line per slot in ${fork}`, async () => {
    const { devChain } = await openDevChain({ forks: [{ fork, epoch: 0 }] });
    const { chain } = devChain;
    const { lines, alarms } = notify(chain, { connectedPeers: () => 3 });
    await advance(devChain, 4 * SLOTS_PER_EPOCH + 1);
    expect(lines()).toHaveLength(4 * SLOTS_PER_EPOCH + 1);
    expect(lines()[0]).toMatchObject({ slot: 1, epoch: 0, head: 0, participationPercent: undefined, peers: 3 });
    expect(lines().at(-1)).toEqual({
      slot: 4 * SLOTS_PER_EPOCH + 1,
      epoch: 4,
      head: 4 * SLOTS_PER_EPOCH,
      root: chain.forkChoice.get(chain.head.parentRoot)!.root.slice(0, 10),
      payload: fork === "gloas" ? "full" : undefined,
      participationPercent: 100,
      peers: 3,
      justified: 3,
      finalized: 2,
      syncing: undefined,
    });
    expect(alarms()).toEqual([]);
  });
}

it("logs fast slots once a second, and none during warm-up", async () => {
  const { devChain } = await openDevChain();
  let isWarmingUp = true;
  const { lines } = notify(devChain.chain, { slotMs: 100, isWarmingUp: () => isWarmingUp });
  await devChain.clock.advanceTo(8);
  expect(lines()).toEqual([]);
  isWarmingUp = false;
  await advance(devChain, 38);
  expect(lines().map((fields) => fields?.slot)).toEqual([9, 19, 29]);
});

it("raises and clears alarms for empty slots and missing finality, but not while syncing", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const seen = { head: 0, branch: 0, finalized: 0, isSyncing: false };
  const staged = {
    clock,
    headState: chain.headState,
    headNode: chain.headNode,
    get head() {
      return { ...chain.head, slot: seen.head };
    },
    get forkChoice() {
      const leaves = () => [{ slot: seen.head }, { slot: seen.branch }];
      return { justified: { epoch: 0 }, finalized: { epoch: seen.finalized }, leaves };
    },
    get status() {
      return { isSyncing: seen.isSyncing };
    },
  } as unknown as BeaconChain;
  const { alarms } = notify(staged);
  const logged = async (slot: number) => {
    const before = alarms().length;
    await clock.advanceTo(slot);
    return alarms().slice(before);
  };
  expect(await logged(4)).toEqual([]);
  const empty = { level: "warn", message: expect.stringContaining("No blocks in recent slots") };
  expect(await logged(8)).toEqual([{ ...empty, fields: { slots: 4, head: 0 } }]);
  seen.head = 8;
  expect(await logged(9)).toEqual([
    { level: "info", message: "Blocks are arriving again", fields: { slots: 0, head: 8 } },
  ]);
  seen.branch = 12;
  expect(await logged(14)).toEqual([]);

  seen.head = 1000;
  expect(await logged(5 * SLOTS_PER_EPOCH - 1)).toEqual([]);
  const finality = { level: "warn", message: expect.stringContaining("Chain is not finalizing") };
  expect(await logged(6 * SLOTS_PER_EPOCH)).toEqual([{ ...finality, fields: { finalized: 0, epochs: 5 } }]);
  seen.finalized = 4;
  expect(await logged(6 * SLOTS_PER_EPOCH + 1)).toMatchObject([
    { level: "info", message: "Chain is finalizing again" },
  ]);

  Object.assign(seen, { head: 0, finalized: 0, isSyncing: true });
  expect(await logged(7 * SLOTS_PER_EPOCH)).toEqual([]);
});

it("raises and clears the alarm for missing payloads", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: "gloas", epoch: 0 }] });
  const { alarms, lines } = notify(devChain.chain);
  await advance(devChain, 4);
  await devChain.control.payloads.schedule("withhold", { count: 4 });
  await advance(devChain, 8);
  expect(alarms()).toEqual([]);
  await advance(devChain, 9);
  expect(lines().at(-1)).toMatchObject({ head: 8, payload: "empty" });
  expect(alarms()).toEqual([
    { level: "warn", message: expect.stringContaining("No payloads of recent blocks"), fields: { blocks: 4, head: 8 } },
  ]);
  await advance(devChain, 10);
  expect(alarms().at(-1)).toEqual({
    level: "info",
    message: "Payloads are arriving again",
    fields: { blocks: 0, head: 9 },
  });
});

it("ignores slots that were empty before the start", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  await clock.advanceTo(20 * SLOTS_PER_EPOCH);
  const { alarms } = notify(chain);
  await clock.advanceTo(20 * SLOTS_PER_EPOCH + 3);
  expect(alarms()).toEqual([]);
});

it("raises and clears the alarm for missing peers", async () => {
  const { devChain } = await openDevChain();
  const { clock, chain } = devChain;
  let peers = 0;
  const { alarms, time } = notify(chain, { needsPeers: true, connectedPeers: () => peers, slotMs: 10_000 });
  await clock.advanceTo(5);
  expect(alarms()).toEqual([]);
  await clock.advanceTo(8);
  const levels = () => alarms().map(({ level, message }) => `${level} ${message.split(":")[0]}`);
  expect(levels()).toEqual(["warn No peers connected"]);
  peers = 1;
  await clock.advanceTo(10);
  time.slotMs = 1;
  await clock.advanceTo(12);
  expect(levels()).toEqual(["warn No peers connected", "info Peers connected again"]);
});

it("raises the alarm for missing peers on a dev chain only while it waits for them", async () => {
  const { devChain } = await openDevChain();
  const { clock } = devChain;
  const { forkChoice, head, headNode, headState } = devChain.chain;
  const status = { ...devChain.chain.status, isSyncing: false };
  let peers = 0;
  const { alarms } = notify(
    { clock, forkChoice, head, headNode, headState, status },
    {
      connectedPeers: () => peers,
      slotMs: 20_000,
    },
  );
  const messages = () => alarms().map(({ message }) => message);
  await clock.advanceTo(4);
  expect(messages()).toEqual([]);
  status.isSyncing = true;
  await clock.advanceTo(5);
  expect(messages()).toEqual(["No peers connected"]);
  status.isSyncing = false;
  await clock.advanceTo(6);
  expect(messages()).toEqual(["No peers connected"]);
  peers = 1;
  await clock.advanceTo(7);
  expect(messages()).toContain("Peers connected again");
});
