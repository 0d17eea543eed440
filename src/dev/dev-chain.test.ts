import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { afterEach, expect, it, vi } from "vitest";
import { openDevChain } from "../../test/support/chain/dev-chain.ts";
import { tempDirectory } from "../../test/support/directories/temp-directory.ts";
import { SYSTEM_TIMERS } from "../async/timers.ts";
import type { NetworkSettings } from "../network/network-settings.ts";
import type { DevNodeOptions } from "../node/dev-node.ts";
import type { DevChain } from "./dev-chain.ts";
import { slashingProtectionStore } from "./validators/slashing-protection.ts";

const SLOTS_SINCE_GENESIS = 24;

/** No peers connect, because the network is not started. */
const networking: NetworkSettings = {
  address: "127.0.0.1",
  port: 0,
  discovery: false,
  bootnodes: [],
  directPeers: [],
  targetPeers: 1,
  supernode: false,
};

const SLOT_SECONDS = 2;
const GENESIS_TIME = 1_700_000_000;
/** A fixed time of day in the middle of a slot. */
const timeOfDay = { nowSeconds: () => GENESIS_TIME + (SLOTS_SINCE_GENESIS + 0.5) * SLOT_SECONDS };

function options(more: Partial<DevNodeOptions>): Partial<DevNodeOptions> {
  const chain = { validators: 8, slotSeconds: SLOT_SECONDS, genesisTime: GENESIS_TIME, warmupEpochs: 1 };
  return { ...chain, networking, timeOfDay, ...more };
}

/** Disables networking in the options above. */
const ALONE: Partial<DevNodeOptions> = { networking: undefined, warmupEpochs: 0 };

afterEach(() => {
  vi.restoreAllMocks();
});

async function emptySlots({ chain }: DevChain): Promise<number> {
  let count = 0;
  for (let slot = 1; slot <= SLOTS_SINCE_GENESIS; slot++) if (!(await chain.blocks.canonicalAtSlot(slot))) count++;
  return count;
}

it.each([
  ["shared with other nodes", { activeValidators: [0, 1] }],
  ["without a network", { networking: undefined }],
])("a new chain %s is produced by all validators up to the present", async (_, more) => {
  const { devChain } = await openDevChain(options(more));
  expect(devChain.isNew).toBe(true);
  await devChain.warmUp();
  expect(devChain.clock.currentSlot).toBe(SLOTS_SINCE_GENESIS);
  expect(devChain.clockOffset).toBeNull();
  expect(await emptySlots(devChain)).toBe(0);
});

it("after a stop, missed slots are caught up only if all validators run in this process", async () => {
  const stopped = async () => {
    const directory = tempDirectory();
    const { devChain, close } = await openDevChain(options({}), directory);
    await devChain.clock.advanceTo(10);
    await close();
    return directory;
  };
  const { devChain: alone, db } = await openDevChain(options({}), await stopped());
  expect(alone.isNew).toBe(false);
  const signedBefore = await slashingProtectionStore(db).load();
  expect(Math.max(...signedBefore.map(({ target }) => target))).toBe(1);
  await alone.warmUp();
  expect(alone.clock.currentSlot).toBe(SLOTS_SINCE_GENESIS);
  expect(await emptySlots(alone)).toBe(0);

  const activeValidators = [0, 1, 2, 3, 4, 5, 6];
  const directory = await stopped();
  const before = await openDevChain(options({ activeValidators }), directory);
  expect(before.devChain.clock.currentSlot).toBe(SLOTS_SINCE_GENESIS);
  await before.db.meta.putJoined();
  await before.close();
  const { devChain: shared } = await openDevChain(options({ activeValidators }), directory);
  expect(shared.clock.currentSlot).toBe(SLOTS_SINCE_GENESIS);
  // New slots stay empty until a peer confirms the head.
  await shared.clock.advanceTo(SLOTS_SINCE_GENESIS + 1);
  expect(shared.chain.head.slot).toBe(10);
});

it("a stopped chain reports its offset from the wall clock, and catches up with --catch-up", async () => {
  const directory = tempDirectory();
  const stoppedAt = 2 * SLOTS_PER_EPOCH + 3;
  const presentSlot = 40 * SLOTS_PER_EPOCH + 2;
  let now = GENESIS_TIME + stoppedAt * SLOT_SECONDS;
  const alone = options({ ...ALONE, timeOfDay: { nowSeconds: () => now } });
  const first = await openDevChain(alone, directory);
  await first.devChain.clock.advanceTo(stoppedAt);
  expect(first.devChain.clockOffset).toBeNull();
  await first.close();

  now = GENESIS_TIME + (presentSlot + 0.5) * SLOT_SECONDS;
  const behind = await openDevChain(alone, directory);
  await behind.devChain.warmUp();
  expect(behind.devChain.clockOffset).toEqual({
    offsetSeconds: (stoppedAt - presentSlot - 0.5) * SLOT_SECONDS,
    slot: stoppedAt,
    wallSlot: presentSlot,
    speed: 1,
  });
  await behind.close();

  const { devChain, complaints } = await openDevChain({ ...alone, catchUp: true }, directory);
  const { chain, clock } = devChain;
  await devChain.warmUp();
  expect(clock.currentSlot).toBe(presentSlot);
  expect(devChain.clockOffset).toBeNull();
  expect(chain.head.slot).toBe(stoppedAt);
  expect(chain.status).toMatchObject({ isSyncing: false, syncDistance: presentSlot - stoppedAt });

  await clock.advanceTo(presentSlot + 1);
  expect(chain.head.slot).toBe(presentSlot + 1);
  await clock.advanceTo(presentSlot + 4 * SLOTS_PER_EPOCH);
  expect(chain.head.slot).toBe(clock.currentSlot);
  expect(chain.forkChoice.finalized.epoch).toBe(computeEpochAtSlot(clock.currentSlot) - 2);
  expect(complaints).toEqual([]);
});

it("catching up is rejected beyond the limit of empty epochs", async () => {
  const directory = tempDirectory();
  await (await openDevChain(options(ALONE), directory)).close();
  const missed = 2048 * SLOTS_PER_EPOCH;
  const timeOfDay = { nowSeconds: () => GENESIS_TIME + (missed + 1) * SLOT_SECONDS };
  const opening = openDevChain(options({ ...ALONE, catchUp: true, timeOfDay }), directory);
  await expect(opening).rejects.toMatchObject({
    kind: "tooFarBehind",
    message: expect.stringContaining(`${missed + 1} slots behind the wall clock, but at most ${missed}`),
  });
});

it("the genesis time leaves room for the warm-up, and cannot change later", async () => {
  const directory = tempDirectory();
  const begun = (genesisTime: number) => openDevChain(options({ ...ALONE, warmupEpochs: 1, genesisTime }), directory);
  const latest = GENESIS_TIME + (SLOTS_SINCE_GENESIS - SLOTS_PER_EPOCH) * SLOT_SECONDS;
  await expect(begun(latest + SLOT_SECONDS)).rejects.toMatchObject({ kind: "genesisTooLate" });
  const { devChain, close } = await begun(latest - SLOT_SECONDS);
  expect(devChain.chain.genesis.time).toBe(latest - SLOT_SECONDS);
  await close();
  await expect(begun(latest)).rejects.toThrow(`the genesis time is ${latest - SLOT_SECONDS} (requested: ${latest})`);
});

it("a running chain warns that it cannot keep its speed", async () => {
  // Makes real time pass a million times faster.
  vi.spyOn(SYSTEM_TIMERS, "now").mockImplementation(() => performance.now() * 1e6);
  const { devChain, complaints } = await openDevChain(options({ ...ALONE, speed: 1000 }));
  const { promise: warned, resolve } = Promise.withResolvers<void>();
  await devChain.run();
  devChain.clock.onSlot(() => {
    if (complaints.length > 0) resolve();
  });
  await warned;
  expect(complaints[0]).toMatch(
    /WARN .*Chain time falls behind the configured speed.* speed=1000 lagSeconds=\d+ cause=machine/,
  );
});

it("a shared chain that no other node has joined continues after a stop", async () => {
  const directory = tempDirectory();
  const activeValidators = [0, 1, 2, 3, 4, 5, 6];
  const first = await openDevChain(options({ activeValidators }), directory);
  await first.devChain.clock.advanceTo(10);
  await first.close();
  const { devChain } = await openDevChain(options({ activeValidators }), directory);
  expect(devChain.clock.currentSlot).toBe(SLOTS_SINCE_GENESIS);
  expect(devChain.chain.status.isSyncing).toBe(false);
  await devChain.clock.advanceTo(SLOTS_SINCE_GENESIS + 2);
  expect(devChain.chain.head.slot).toBeGreaterThan(SLOTS_SINCE_GENESIS);
});
