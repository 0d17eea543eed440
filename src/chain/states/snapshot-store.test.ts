import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { processSlots } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, onTestFinished, test } from "vitest";
import { collect } from "../../db/collect.test-support.ts";
import { openDatabase } from "../../db/open-database.ts";
import { createTempDir } from "../../db/temp-dir.test-support.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { SnapshotStore } from "./snapshot-store.ts";

const [FIRST, SECOND, THIRD, FOURTH] = ["11", "22", "33", "44"].map((byte) => `0x${byte.repeat(32)}`) as [
  RootHex,
  RootHex,
  RootHex,
  RootHex,
];

/** A chain that is phase0 in epoch 0 and altair from epoch 1 on, so that each state has its own encoding. */
async function scene() {
  const directory = await createTempDir();
  const db = await openDatabase(directory.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    await directory.remove();
  });
  const chainConfig = devChainConfig({ forks: [{ fork: "altair", epoch: 1 }], slotSeconds: 2, genesisTime: 0 });
  const { state, config, pubkeyCache } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: 0 });
  const openStore = async () => {
    const store = new SnapshotStore({ config, db, pubkeyCache, intervalEpochs: 2 });
    await store.open();
    return store;
  };
  return { db, state, openStore };
}

test("a stored state comes back the same, whichever fork it is of, and also after a restart", async () => {
  const { db, state, openStore } = await scene();
  const advanced = processSlots(state, SLOTS_PER_EPOCH);
  const store = await openStore();
  const batch = db.batch();
  store.put(batch, FIRST, state);
  store.put(batch, SECOND, advanced);
  await batch.write();

  for (const reader of [store, await openStore()]) {
    const [first, second] = [await reader.load(FIRST), await reader.load(SECOND)];
    expect(toRootHex(first!.hashTreeRoot())).toBe(toRootHex(state.hashTreeRoot()));
    expect(toRootHex(second!.hashTreeRoot())).toBe(toRootHex(advanced.hashTreeRoot()));
    // What was loaded can be worked with, not only looked at.
    expect(processSlots(first!, SLOTS_PER_EPOCH).hashTreeRoot()).toEqual(advanced.hashTreeRoot());
  }
});

test("a state that lies too late is of no use", async () => {
  const { db, state, openStore } = await scene();
  const store = await openStore();
  const batch = db.batch();
  store.put(batch, FIRST, processSlots(state, 3));
  await batch.write();

  expect(await store.load(FIRST, 2)).toBeNull();
  expect((await store.load(FIRST, 3))!.slot).toBe(3);
  expect(await store.load(SECOND)).toBeNull();
});

test("of the states after one block the latest that is of use is taken; what is deleted is gone, but never the first", async () => {
  const { db, state, openStore } = await scene();
  for (const slot of [1, 2, 9]) {
    const batch = db.batch();
    (await openStore()).put(batch, FIRST, processSlots(state, slot));
    await batch.write();
  }
  const store = await openStore();
  expect((await store.load(FIRST))!.slot).toBe(9);
  expect((await store.load(FIRST, 8))!.slot).toBe(2);
  expect((await store.load(FIRST, 1))!.slot).toBe(1);
  expect(await store.load(FIRST, 0)).toBeNull();

  const batch = db.batch();
  for (const slot of [1, 2, 3]) store.delete(batch, { slot, blockRoot: FIRST });
  store.delete(batch, { slot: 1, blockRoot: SECOND });
  await batch.write();
  expect((await store.load(FIRST, 8))!.slot).toBe(1);
  expect(await collect(db.snapshots.keys())).toEqual([
    { slot: 1, blockRoot: FIRST },
    { slot: 9, blockRoot: FIRST },
  ]);
  expect(store.oldest).toEqual({ slot: 1, blockRoot: FIRST });
});

test("of a chain the last state of each interval stays, and the oldest of all", async () => {
  const { db, state, openStore } = await scene();
  const first = db.batch();
  first.snapshots.put(0, FIRST, state.serialize());
  await first.write();
  const store = await openStore();
  const batch = db.batch();
  store.put(batch, SECOND, processSlots(state, 4));
  store.put(batch, THIRD, processSlots(state, SLOTS_PER_EPOCH));
  store.put(batch, FOURTH, processSlots(state, 2 * SLOTS_PER_EPOCH));
  const unstored = `0x${"55".repeat(32)}`;
  store.thin(
    batch,
    [FOURTH, unstored, THIRD, SECOND, FIRST].map((root) => ({ root })),
  );
  await batch.write();

  expect((await collect(db.snapshots.keys())).map(({ blockRoot }) => blockRoot)).toEqual([FIRST, THIRD, FOURTH]);
  expect([FIRST, SECOND, THIRD, FOURTH].map((root) => store.has(root))).toEqual([true, false, true, true]);
});
