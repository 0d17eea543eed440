import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateAllForks, processSlots } from "@lodestar/state-transition";
import { type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, onTestFinished, test } from "vitest";
import { collect } from "../../db/collect.test-support.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { openDatabase } from "../../db/open-database.ts";
import { createTempDir } from "../../db/temp-dir.test-support.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { latestBlockHeader } from "../anchor.ts";
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
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state)));
  /** Stores the state as the chain does: what was advanced past its block can be found in the index. */
  const store = async (snapshots: SnapshotStore, advanced: CachedBeaconStateAllForks) => {
    const prepared = await snapshots.prepare(root, advanced);
    const batch = db.batch();
    snapshots.put(batch, prepared);
    batch.stateIndex.put(advanced.hashTreeRoot(), { slot: advanced.slot, blockRoot: root });
    await batch.write();
  };
  return { db, state, root, openStore, store };
}

test("a stored state comes back the same, whichever fork it is of, and also after a restart", async () => {
  const { state, root, openStore, store } = await scene();
  const advanced = processSlots(state, SLOTS_PER_EPOCH);
  const snapshots = await openStore();
  await store(snapshots, state);
  await store(snapshots, advanced);

  for (const reader of [snapshots, await openStore()]) {
    const [first, second] = [await reader.load(root, 0), await reader.load(root)];
    expect(toRootHex(first!.hashTreeRoot())).toBe(toRootHex(state.hashTreeRoot()));
    expect(toRootHex(second!.hashTreeRoot())).toBe(toRootHex(advanced.hashTreeRoot()));
    // What was loaded can be worked with, not only looked at.
    expect(processSlots(first!, SLOTS_PER_EPOCH).hashTreeRoot()).toEqual(advanced.hashTreeRoot());
  }
});

test("bytes that are not those of the state are never given for it", async () => {
  const { db, state, root, openStore, store } = await scene();
  const snapshots = await openStore();
  for (const original of [state, processSlots(state, 3)]) {
    await store(snapshots, original);
    const bytes = original.serialize();
    // The balances are among the last fields: to the state they are numbers like any other.
    const changed = bytes.slice();
    changed[changed.length - 60]! ^= 1;
    for (const wrong of [changed, bytes.subarray(0, 1000), processSlots(original, original.slot + 1).serialize()]) {
      const batch = db.batch();
      batch.snapshots.put(original.slot, root, wrong);
      await batch.write();
      await expect(snapshots.load(root)).rejects.toThrow(DatabaseCorruptError);
    }
  }
});

test("a state that lies too late is of no use", async () => {
  const { state, root, openStore, store } = await scene();
  const snapshots = await openStore();
  await store(snapshots, processSlots(state, 3));

  expect(await snapshots.load(root, 2)).toBeNull();
  expect((await snapshots.load(root, 3))!.slot).toBe(3);
  expect(await snapshots.load(SECOND)).toBeNull();
});

test("of the states after one block the latest that is of use is taken; what is deleted is gone, but never the first", async () => {
  const { db, state, root: FIRST, openStore, store: put } = await scene();
  for (const slot of [1, 2, 9]) await put(await openStore(), processSlots(state, slot));
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
  store.put(batch, await store.prepare(SECOND, processSlots(state, 4)));
  store.put(batch, await store.prepare(THIRD, processSlots(state, SLOTS_PER_EPOCH)));
  store.put(batch, await store.prepare(FOURTH, processSlots(state, 2 * SLOTS_PER_EPOCH)));
  const unstored = `0x${"55".repeat(32)}`;
  store.thin(
    batch,
    [FOURTH, unstored, THIRD, SECOND, FIRST].map((root) => ({ root })),
  );
  await batch.write();

  expect((await collect(db.snapshots.keys())).map(({ blockRoot }) => blockRoot)).toEqual([FIRST, THIRD, FOURTH]);
  expect([FIRST, SECOND, THIRD, FOURTH].map((root) => store.has(root))).toEqual([true, false, true, true]);
});
