import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, onTestFinished, test } from "vitest";
import { advance, openDevChain, QUIET } from "../../test/support/dev-chain.ts";
import type { BeaconChain } from "../chain/chain.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { Watch } from "./watch.ts";

/** Real time that goes on by so much with every slot. */
function steadyTime(chain: BeaconChain, slotMs: number) {
  const time = { now: 0, slotMs };
  const stop = chain.clock.onSlot(() => {
    time.now += time.slotMs;
  });
  onTestFinished(stop);
  return { time, timers: { now: () => time.now } };
}

function watch(chain: BeaconChain, parts: Partial<ConstructorParameters<typeof Watch>[0]> & { slotMs?: number } = {}) {
  const { time, timers } = steadyTime(chain, parts.slotMs ?? 2000);
  const logger = createRecordingLogger();
  const watching = new Watch({ chain, needsPeers: false, logger, timers, ...parts });
  onTestFinished(() => watching.close());
  const lines = () => logger.records.filter(({ message }) => message === "Slot").map(({ fields }) => fields);
  const alarms = () => logger.records.filter(({ message }) => message !== "Slot");
  return { time, lines, alarms, watching };
}

for (const fork of ["phase0", "altair"] as const) {
  test(`one line a slot tells how the chain is in ${fork}`, async () => {
    const { devChain } = await openDevChain({ forks: [{ fork, epoch: 0 }] });
    const { chain } = devChain;
    const { lines, alarms } = watch(chain, { connectedPeers: () => 3 });
    await advance(devChain, 4 * SLOTS_PER_EPOCH + 1);
    expect(lines()).toHaveLength(4 * SLOTS_PER_EPOCH + 1);
    expect(lines()[0]).toMatchObject({ slot: 1, epoch: 0, head: 0, voted: undefined, peers: 3 });
    expect(lines().at(-1)).toEqual({
      slot: 4 * SLOTS_PER_EPOCH + 1,
      epoch: 4,
      head: 4 * SLOTS_PER_EPOCH,
      root: chain.forkChoice.get(chain.head.parentRoot)!.root.slice(0, 10),
      voted: "100%",
      peers: 3,
      justified: 3,
      finalized: 2,
      syncing: undefined,
    });
    expect(alarms()).toEqual([]);
  });
}

test("slots that fly by are told once a second, those of a warm-up not at all", async () => {
  const { devChain } = await openDevChain();
  let isWarmingUp = true;
  const { lines } = watch(devChain.chain, { slotMs: 100, isWarmingUp: () => isWarmingUp });
  await devChain.clock.advanceTo(8);
  expect(lines()).toEqual([]);
  isWarmingUp = false;
  await advance(devChain, 38);
  expect(lines().map((fields) => fields?.slot)).toEqual([9, 19, 29]);
});

test("empty slots and missing finality are warned of once, and recover, but not while the node is syncing", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const seen = { head: 0, branch: 0, finalized: 0, isSyncing: false };
  const staged = {
    clock,
    headState: chain.headState,
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
  const { alarms } = watch(staged);
  const told = async (slot: number) => {
    const before = alarms().length;
    await clock.advanceTo(slot);
    return alarms().slice(before);
  };
  expect(await told(4)).toEqual([]);
  const empty = { level: "warn", message: expect.stringContaining("Slots have no blocks") };
  expect(await told(8)).toEqual([{ ...empty, fields: { slots: 4, head: 0 } }]);
  seen.head = 8;
  expect(await told(9)).toEqual([{ level: "info", message: "Slots have blocks again", fields: { slots: 0, head: 8 } }]);
  seen.branch = 12;
  expect(await told(14)).toEqual([]);

  seen.head = 1000;
  expect(await told(5 * SLOTS_PER_EPOCH - 1)).toEqual([]);
  const finality = { level: "warn", message: expect.stringContaining("The chain does not finalize") };
  expect(await told(6 * SLOTS_PER_EPOCH)).toEqual([{ ...finality, fields: { finalized: 0, epochs: 5 } }]);
  seen.finalized = 4;
  expect(await told(6 * SLOTS_PER_EPOCH + 1)).toMatchObject([{ level: "info", message: "The chain finalizes again" }]);

  Object.assign(seen, { head: 0, finalized: 0, isSyncing: true });
  expect(await told(7 * SLOTS_PER_EPOCH)).toEqual([]);
});

test("what was empty before is not warned of", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  await clock.advanceTo(20 * SLOTS_PER_EPOCH);
  const { alarms } = watch(chain);
  await clock.advanceTo(20 * SLOTS_PER_EPOCH + 3);
  expect(alarms()).toEqual([]);
});

test("what went wrong with peers is told once, and once more when it is over", async () => {
  const { devChain } = await openDevChain();
  const { clock, chain } = devChain;
  let peers = 0;
  const { alarms, time } = watch(chain, { needsPeers: true, connectedPeers: () => peers, slotMs: 10_000 });
  await clock.advanceTo(5);
  expect(alarms()).toEqual([]);
  await clock.advanceTo(8);
  const levels = () => alarms().map(({ level, message }) => `${level} ${message.split(":")[0]}`);
  expect(levels()).toEqual(["warn No other node is connected"]);
  peers = 1;
  await clock.advanceTo(10);
  time.slotMs = 1;
  await clock.advanceTo(12);
  expect(levels()).toEqual(["warn No other node is connected", "info Other nodes are connected again"]);
});
