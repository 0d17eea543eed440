import { deflateSync } from "node:zlib";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateAllForks, processSlots } from "@lodestar/state-transition";
import { type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { collect } from "../../../test/support/db/collect.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { seededRandom } from "../../../test/support/random/seeded-random.ts";
import type { BeaconDbBatch } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { openDatabase } from "../../db/open-database.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { latestBlockHeader } from "../anchor/anchor.ts";
import { Pubkeys } from "../pubkeys/pubkeys.ts";
import { SnapshotStore } from "./snapshot-store.ts";

const [FIRST, SECOND, THIRD, FOURTH] = ["11", "22", "33", "44"].map((byte) => `0x${byte.repeat(32)}`) as [
  RootHex,
  RootHex,
  RootHex,
  RootHex,
];

/** A chain with phase0 in epoch 0 and altair from epoch 1 on, so that its states have different encodings. */
async function scene() {
  const directory = removableDirectory();
  const db = await openDatabase(directory.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    directory.remove();
  });
  const chainConfig = devChainConfig({ forks: [{ fork: "altair", epoch: 1 }], slotSeconds: 2, genesisTime: 0 });
  const { state, config } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: 0 });
  const pubkeyCache = new Pubkeys({ logger: createRecordingLogger() });
  const openStore = async () => {
    const store = new SnapshotStore({ config, db, pubkeyCache, intervalEpochs: 2 });
    await store.open();
    return store;
  };
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state)));
  /** Stores the state as the chain does: advanced states are in the state index. */
  const store = async (snapshots: SnapshotStore, advanced: CachedBeaconStateAllForks) => {
    const prepared = await snapshots.prepare(root, advanced);
    const batch = db.batch();
    snapshots.put(batch, prepared);
    batch.stateIndex.put(advanced.hashTreeRoot(), { slot: advanced.slot, blockRoot: root });
    await batch.write();
  };
  return { db, state, root, openStore, store };
}

it("a stored state round-trips on any fork, also after a restart", async () => {
  const { state, root, openStore, store } = await scene();
  const advanced = processSlots(state, SLOTS_PER_EPOCH);
  const snapshots = await openStore();
  await store(snapshots, state);
  await store(snapshots, advanced);

  for (const reader of [snapshots, await openStore()]) {
    const [first, second] = [await reader.load(root, 0), await reader.load(root)];
    expect(toRootHex(first!.hashTreeRoot())).toBe(toRootHex(state.hashTreeRoot()));
    expect(toRootHex(second!.hashTreeRoot())).toBe(toRootHex(advanced.hashTreeRoot()));
    // The loaded state can be advanced.
    expect(processSlots(first!, SLOTS_PER_EPOCH).hashTreeRoot()).toEqual(advanced.hashTreeRoot());
  }
});

it("never returns bytes that do not match the state", async () => {
  const { db, state, root, openStore, store } = await scene();
  const snapshots = await openStore();
  for (const original of [state, processSlots(state, 3)]) {
    await store(snapshots, original);
    const bytes = original.serialize();
    // Balances are among the last fields and have no constraints.
    const changed = bytes.slice();
    changed[changed.length - 60]! ^= 1;
    for (const wrong of [changed, bytes.subarray(0, 1000), processSlots(original, original.slot + 1).serialize()]) {
      const batch = db.batch();
      // Older versions stored states this way.
      for await (const stored of db.snapshots.entries()) batch.snapshots.delete(stored);
      batch.snapshots.put(original.slot, root, wrong);
      await batch.write();
      await expect((await openStore()).load(root)).rejects.toThrow(DatabaseCorruptError);
    }
  }
});

it("reports a state with an invalid public key", async () => {
  const { state, root, openStore, store } = await scene();
  const snapshots = await openStore();
  const broken = processSlots(state, 3);
  broken.validators.get(5).pubkey = new Uint8Array(48);
  broken.commit();
  await store(snapshots, broken);
  const loading = snapshots.load(root);
  await expect(loading).rejects.toThrow(DatabaseCorruptError);
  await expect(loading).rejects.toThrow(
    /is damaged: the public key 0x0+ of validator 5 is not a point of the curve\.$/,
  );
});

/** Three states from one fork. The first is the base for the other two. */
async function threeStored() {
  const opened = await scene();
  const snapshots = await opened.openStore();
  const states = [9, 10, 11].map((slot) => processSlots(opened.state, slot));
  await opened.store(snapshots, processSlots(opened.state, 1));
  for (const state of states) await opened.store(snapshots, state);
  const packings = async () => {
    const entries = await collect(opened.db.snapshots.entries());
    return entries.map(({ slot, packing }) => ({ slot, base: packing?.base?.slot, isOnlyBase: packing?.isOnlyBase }));
  };
  /** Returns the slots of the states that are loaded for these slots. */
  const slotsOf = (store: SnapshotStore) =>
    Promise.all([1, 9, 10, 11].map(async (slot) => (await store.load(opened.root, slot))?.slot));
  return { ...opened, snapshots, packings, slotsOf };
}

it("stores a state as a patch of an earlier one of its fork", async () => {
  const { packings, slotsOf, snapshots } = await threeStored();
  expect(await packings()).toEqual([
    { slot: 1, base: undefined, isOnlyBase: false },
    { slot: 9, base: undefined, isOnlyBase: false },
    { slot: 10, base: 9, isOnlyBase: false },
    { slot: 11, base: 9, isOnlyBase: false },
  ]);
  expect(await slotsOf(snapshots)).toEqual([1, 9, 10, 11]);
});

it("keeps a base until its last patch is deleted, also over a restart", async () => {
  const { db, root, packings, snapshots, openStore, slotsOf } = await threeStored();
  const deleteFrom = async (store: SnapshotStore, slot: number) => {
    const batch = db.batch();
    store.delete(batch, { slot, blockRoot: root });
    await batch.write();
  };
  await deleteFrom(snapshots, 9);
  await deleteFrom(snapshots, 10);
  expect(await packings()).toEqual([
    { slot: 1, base: undefined, isOnlyBase: false },
    { slot: 9, base: undefined, isOnlyBase: true },
    { slot: 11, base: 9, isOnlyBase: false },
  ]);
  expect(await slotsOf(await openStore())).toEqual([1, 9, 9, 11]);
  await deleteFrom(await openStore(), 11);
  expect((await packings()).map(({ slot }) => slot)).toEqual([1]);
  expect((await collect(db.snapshots.partKeys())).map(({ slot }) => slot)).toEqual([1]);
});

it("rejects a state whose base or part is damaged or missing", async () => {
  const { db, root, snapshots } = await threeStored();
  const [, base, patch] = await collect(db.snapshots.entries());
  const damages: ((batch: BeaconDbBatch) => void)[] = [
    (batch) => batch.snapshots.putPart(10, root, 0, Uint8Array.of(1, 2, 3)),
    (batch) => batch.snapshots.putPart(10, root, 0, deflateSync(Uint8Array.of(2, 1, 7))),
    (batch) => batch.snapshots.deletePart(10, root, 0),
    (batch) => batch.snapshots.putPacking(10, root, { ...patch!.packing!, base: { slot: 11, blockRoot: root } }),
    (batch) => batch.snapshots.putPacking(10, root, { ...patch!.packing!, base: { slot: 1, blockRoot: root } }),
    (batch) => batch.snapshots.delete(base!),
  ];
  for (const damage of damages) {
    const batch = db.batch();
    damage(batch);
    await batch.write();
    await expect(snapshots.load(root, 10)).rejects.toThrow(DatabaseCorruptError);
  }
});

it("deletes incomplete writes after a crash", async () => {
  const { db, state, root, snapshots, openStore, slotsOf } = await threeStored();
  const parts = await collect(db.snapshots.partKeys());
  await snapshots.prepare(root, processSlots(state, 12));
  expect(await collect(db.snapshots.partKeys())).toHaveLength(parts.length + 1);
  const again = await openStore();
  expect(await collect(db.snapshots.partKeys())).toEqual(parts);
  expect(await slotsOf(again)).toEqual([1, 9, 10, 11]);
});

it("discards an unneeded state and does not store a state twice", async () => {
  const { db, state, root, snapshots, packings } = await threeStored();
  const before = [await packings(), await collect(db.snapshots.partKeys())];
  const batch = db.batch();
  snapshots.discard(batch, await snapshots.prepare(root, processSlots(state, 12)));
  snapshots.put(batch, await snapshots.prepare(root, processSlots(state, 10)));
  await batch.write();
  expect([await packings(), await collect(db.snapshots.partKeys())]).toEqual(before);
});

it("resumes with a loaded base, otherwise with a new one", async () => {
  const { state, root, openStore, store, packings } = await threeStored();
  const fromBase = await openStore();
  await fromBase.resumeFrom(root, (await fromBase.load(root, 9))!);
  await store(fromBase, processSlots(state, 13));
  const fromPatch = await openStore();
  await fromPatch.resumeFrom(root, (await fromPatch.load(root, 11))!);
  await store(fromPatch, processSlots(state, 14));
  const added = (await packings()).filter(({ slot }) => slot > 11);
  expect(added.map(({ slot, base }) => [slot, base])).toEqual([
    [13, 9],
    [14, undefined],
  ]);
});

it("writes a new base once a patch exceeds the average size", async () => {
  const { db, state, openStore } = await scene();
  const snapshots = await openStore();
  const random = seededRandom(3);
  const bases: (number | undefined)[] = [];
  for (let slot = 1; slot <= 12; slot++) {
    const later = state.clone();
    later.slot = slot;
    // Roots are incompressible, and each later state has more roots that differ from the base.
    for (let n = 0; n < 4 * slot; n++)
      later.randaoMixes.set(
        n,
        Uint8Array.from({ length: 32 }, () => 256 * random()),
      );
    later.commit();
    const prepared = await snapshots.prepare(`0x${String(slot).padStart(64, "0")}`, later);
    const batch = db.batch();
    snapshots.put(batch, prepared);
    await batch.write();
    bases.push(prepared.snapshot.packing?.base?.slot);
  }
  const renewals = bases.flatMap((base, index) => (base === undefined ? index + 1 : []));
  expect(renewals[0]).toBe(1);
  expect(renewals.length).toBeGreaterThan(1);
  expect(renewals.length).toBeLessThan(6);
});

it("ignores a state that is advanced too far", async () => {
  const { state, root, openStore, store } = await scene();
  const snapshots = await openStore();
  await store(snapshots, processSlots(state, 3));

  expect(await snapshots.load(root, 2)).toBeNull();
  expect((await snapshots.load(root, 3))!.slot).toBe(3);
  expect(await snapshots.load(SECOND)).toBeNull();
});

it("loads the latest usable state of a block; deletes others, but never the anchor", async () => {
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

it("keeps the last state of each interval and the oldest of all", async () => {
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
