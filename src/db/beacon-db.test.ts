import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect } from "../../test/support/db/collect.ts";
import { type RemovableDirectory, removableDirectory } from "../../test/support/directories/removable-directory.ts";
import type { BeaconDb, BeaconDbBatch } from "./beacon-db.ts";
import { DatabaseInUseError, DatabaseSchemaError } from "./errors.ts";
import { salvageDatabase } from "./files/salvage.ts";
import { Bucket } from "./keys.ts";
import { LevelStore } from "./level/level-store.ts";
import { openDatabase, SCHEMA_VERSION, upgradeSchema } from "./open-database.ts";

const root = (n: number) => toRootHex(new Uint8Array(32).fill(n));
const bytes = (...values: number[]) => Uint8Array.from(values);

describe("BeaconDb", () => {
  let dir: RemovableDirectory;
  let db: BeaconDb;

  beforeEach(async () => {
    dir = removableDirectory();
    db = await openDatabase(dir.path, { sync: true });
  });

  afterEach(async () => {
    await db.close();
    dir.remove();
  });

  const write = async (addTo: (batch: BeaconDbBatch) => void) => {
    const batch = db.batch();
    addTo(batch);
    await batch.write();
  };
  const reopen = async () => {
    await db.close();
    db = await openDatabase(dir.path, { sync: true });
  };

  it("stores blocks by root, given as hex or as bytes", async () => {
    await write((batch) => batch.blocks.put(root(1), bytes(1, 2, 3)));
    expect(await db.blocks.get(new Uint8Array(32).fill(1))).toEqual(bytes(1, 2, 3));
    expect(await db.blocks.has(root(2))).toBe(false);
    await write((batch) => batch.blocks.delete(root(1)));
    expect(await db.blocks.get(root(1))).toBeNull();
  });

  it("rejects a root of the wrong length", () => {
    expect(() => db.batch().blocks.put("0x1234", bytes())).toThrow("expected 32 bytes, got 2");
  });

  it("has the same contents after reopening or salvaging with live layers", async () => {
    await write((batch) => batch.blocks.put(root(1), bytes(1)));
    await db.addLayer();
    await write((batch) => {
      batch.blocks.delete(root(1));
      batch.blocks.put(root(2), bytes(2));
    });
    const dropped = await db.addLayer();
    await write((batch) => batch.blocks.put(root(3), bytes(3)));
    await db.dropLayer(dropped);
    await db.close();
    await using salvaged = new AsyncDisposableStack();
    const copy = removableDirectory();
    salvaged.defer(() => copy.remove());
    await salvageDatabase(dir.path, copy.path);
    const saved = await openDatabase(copy.path, { sync: true });
    salvaged.defer(() => saved.close());
    db = await openDatabase(dir.path, { sync: true });
    for (const each of [db, saved]) {
      expect(await collect(each.blocks.entries())).toEqual([{ root: root(2), bytes: bytes(2) }]);
    }
  });

  it("iterates hot blocks in slot order", async () => {
    await write((batch) => {
      for (const slot of [70_000, 2, 256, 255, 5_000_000_000]) batch.hotBlocks.put(slot, root(9), root(slot % 7));
      batch.hotBlocks.put(255, root(3), root(4), bytes(1, 2));
    });
    const entries = await collect(db.hotBlocks.entries());
    expect(entries.map(({ slot }) => slot)).toEqual([2, 255, 255, 256, 70_000, 5_000_000_000]);
    expect(entries[0]).toEqual({ slot: 2, root: root(9), parentRoot: root(2), forkChoiceData: bytes() });
    expect(entries[1]).toEqual({ slot: 255, root: root(3), parentRoot: root(4), forkChoiceData: bytes(1, 2) });
    expect(await collect(db.hotBlocks.entries({ to: 255 }))).toEqual(entries.slice(0, 3));
    await write((batch) => batch.hotBlocks.delete(255, root(9)));
    expect(await collect(db.hotBlocks.entries())).toHaveLength(5);
    expect(await db.hotBlocks.last()).toEqual({ slot: 5_000_000_000, root: root(9) });
  });

  it("is empty after clear", async () => {
    expect(await db.hotBlocks.last()).toBeNull();
    await write((batch) => {
      batch.blocks.put(root(1), bytes(1));
      batch.hotBlocks.put(1, root(1), root(0));
      batch.finalizedBlocks.put(0, root(0));
      batch.stateIndex.put(root(1), { slot: 1, blockRoot: root(1) });
      batch.snapshots.put(0, root(0), bytes(1));
      batch.meta.putIdentity({ kind: "dev" });
    });
    await db.operations.replaceAll([{ kind: "exits", bytes: bytes(1) }]);
    await db.meta.putClockSlot(7);
    expect(await db.meta.getClockSlot()).toBe(7);
    await db.clear();
    expect(await db.meta.getIdentity()).toBeNull();
    await db.close();
    const store = await LevelStore.open(dir.path, { sync: true });
    for (const [name, bucket] of Object.entries(Bucket)) {
      expect(await collect(store.keys(bucket)), name).toHaveLength(bucket === Bucket.meta ? 1 : 0);
    }
    await store.close();
    db = await openDatabase(dir.path, { sync: true });
  });

  describe("finalized blocks", () => {
    beforeEach(() =>
      write((batch) => {
        for (const slot of [0, 10, 255, 256, 300]) batch.finalizedBlocks.put(slot, root(slot % 251));
      }),
    );

    const slots = async (range: Parameters<BeaconDb["finalizedBlocks"]["range"]>[0]) =>
      (await collect(db.finalizedBlocks.range(range))).map(({ slot }) => slot);

    it("iterates ranges in both directions", async () => {
      expect(await slots({})).toEqual([0, 10, 255, 256, 300]);
      expect(await slots({ from: 10, to: 256 })).toEqual([10, 255, 256]);
      expect(await slots({ from: 10, to: 299, reverse: true })).toEqual([256, 255, 10]);
      expect(await slots({ from: 1, limit: 2 })).toEqual([10, 255]);
      expect(await slots({ from: 301 })).toEqual([]);
    });

    it("finds the last at or before and the first after a slot", async () => {
      expect(await db.finalizedBlocks.lastAtOrBefore(255)).toEqual({ slot: 255, root: root(4) });
      expect(await db.finalizedBlocks.lastAtOrBefore(254)).toEqual({ slot: 10, root: root(10) });
      expect(await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY)).toMatchObject({ slot: 300 });
      expect(await db.finalizedBlocks.firstAfter(255)).toMatchObject({ slot: 256 });
      expect(await db.finalizedBlocks.firstAfter(300)).toBeNull();
      expect(await db.finalizedBlocks.lastAtOrBefore(-1)).toBeNull();
      expect(await db.finalizedBlocks.firstAfter(-1)).toMatchObject({ slot: 0 });
    });

    it("gets and deletes by slot", async () => {
      expect(await db.finalizedBlocks.get(10)).toBe(root(10));
      for (const slot of [-1, 11, 2 ** 64, Number.POSITIVE_INFINITY]) {
        expect(await db.finalizedBlocks.get(slot)).toBeNull();
      }
      expect(await db.finalizedBlocks.get(11)).toBeNull();
      expect(await db.finalizedBlocks.get(2 ** 64)).toBeNull();
      expect(await db.finalizedBlocks.get(-1)).toBeNull();
      await write((batch) => batch.finalizedBlocks.delete(0));
      expect(await db.finalizedBlocks.lastAtOrBefore(9)).toBeNull();
    });
  });

  it("finds states by root", async () => {
    await write((batch) => batch.stateIndex.put(root(1), { slot: 77, blockRoot: root(2) }));
    expect(await db.stateIndex.get(root(1))).toEqual({ slot: 77, blockRoot: root(2) });
    await write((batch) => batch.stateIndex.delete(root(1)));
    expect(await db.stateIndex.get(root(1))).toBeNull();
  });

  it("stores several snapshots of one slot", async () => {
    await write((batch) => {
      batch.snapshots.put(8, root(1), bytes(8));
      batch.snapshots.put(256, root(2), bytes(16));
      batch.snapshots.put(256, root(255), bytes(17));
      batch.snapshots.put(300, root(4), bytes(24));
    });
    expect(await db.snapshots.get(256, root(255))).toEqual(bytes(17));
    await write((batch) => batch.snapshots.delete({ slot: 256, blockRoot: root(255), packing: null }));
    expect(await db.snapshots.get(256, root(255))).toBeNull();
    expect((await collect(db.snapshots.keys())).map(({ slot }) => slot)).toEqual([8, 256, 300]);
  });

  it("reclaims the disk space of deleted states", async () => {
    const states = Array.from({ length: 64 }, (_, slot) => ({ slot, bytes: randomBytes(2 ** 17) }));
    for (const state of states) await write((batch) => batch.snapshots.put(state.slot, root(1), state.bytes));
    for (const { slot } of states)
      await write((batch) => batch.snapshots.delete({ slot, blockRoot: root(1), packing: null }));
    await db.compact();
    const sizes = readdirSync(dir.path).map((name) => statSync(join(dir.path, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 ** 20);
  });

  it("replaces the stored operations atomically", async () => {
    const exits = Array.from({ length: 300 }, (_, n) => ({ kind: "exits", bytes: bytes(n >> 8, n & 0xff) }));
    const slashing = { kind: "slashings/electra", bytes: bytes(1) };
    await db.operations.replaceAll([slashing, ...exits]);
    expect(await db.operations.getAll()).toEqual([...exits, slashing]);
    await db.operations.replaceAll([exits[1]!]);
    expect(await db.operations.getAll()).toEqual([exits[1]]);
    await db.operations.replaceAll([]);
    expect(await db.operations.getAll()).toEqual([]);
  });

  it("persists meta values", async () => {
    expect(await db.meta.getFinalized()).toBeNull();
    await write((batch) => {
      batch.meta.putIdentity({ name: "dev", genesisRoot: root(1) });
      batch.meta.putFinalized({ epoch: 3, root: root(2) });
      batch.meta.putClockSlot(99);
      batch.meta.putNodeKey(bytes(1, 2));
      batch.meta.putCustom("nodeKey", bytes(3));
      batch.meta.putCustom("node/1", bytes(4));
    });
    await reopen();
    expect(await db.meta.getSchemaVersion()).toBe(SCHEMA_VERSION);
    expect(await db.meta.getIdentity()).toEqual({ name: "dev", genesisRoot: root(1) });
    expect(await db.meta.getFinalized()).toEqual({ epoch: 3, root: root(2) });
    expect(await db.meta.getClockSlot()).toBe(99);
    expect(await db.meta.getNodeKey()).toEqual(bytes(1, 2));
    expect(await collect(db.meta.customEntries("node"))).toEqual([
      ["node/1", bytes(4)],
      ["nodeKey", bytes(3)],
    ]);
    expect(await collect(db.meta.customEntries("node/"))).toEqual([["node/1", bytes(4)]]);
  });

  it("commits writes of several repositories atomically", async () => {
    const batch = db.batch();
    batch.blocks.put(root(1), bytes(1));
    batch.hotBlocks.put(1, root(1), root(0));
    batch.finalizedBlocks.put(1, root(1));
    expect(await db.blocks.has(root(1))).toBe(false);
    await batch.write();
    await reopen();
    expect(await db.blocks.has(root(1))).toBe(true);
    expect(await collect(db.hotBlocks.entries())).toHaveLength(1);
    expect(await db.finalizedBlocks.get(1)).toBe(root(1));
  });

  it("locks the database while open and releases it after a failed open", async () => {
    await expect(openDatabase(dir.path, { sync: true })).rejects.toThrow(DatabaseInUseError);
    await reopen();
  });

  it("reads schema version 1 and upgrades it before writing", async () => {
    await write((batch) => {
      batch.meta.putSchemaVersion(1);
      batch.snapshots.put(8, root(1), bytes(8));
    });
    await reopen();
    // Opening the database read-only does not upgrade the schema.
    expect(await db.meta.getSchemaVersion()).toBe(1);
    expect(await db.snapshots.get(8, root(1))).toEqual(bytes(8));
    await upgradeSchema(db);
    await reopen();
    expect(await db.meta.getSchemaVersion()).toBe(SCHEMA_VERSION);
    expect(await db.snapshots.get(8, root(1))).toEqual(bytes(8));
  });

  it("rejects a newer schema without changing the database", async () => {
    await write((batch) => {
      batch.meta.putSchemaVersion(SCHEMA_VERSION + 1);
      batch.blocks.put(root(1), bytes(1));
    });
    await db.close();
    await expect(openDatabase(dir.path, { sync: true })).rejects.toThrow(
      expect.objectContaining({ name: DatabaseSchemaError.name, found: SCHEMA_VERSION + 1, supported: SCHEMA_VERSION }),
    );
    const store = await LevelStore.open(dir.path, { sync: true });
    expect(await collect(store.entries(Bucket.meta))).toHaveLength(1);
    expect(new TextDecoder().decode((await collect(store.entries(Bucket.meta)))[0]?.[1])).toBe(
      String(SCHEMA_VERSION + 1),
    );
    expect(await collect(store.entries(Bucket.blocks))).toHaveLength(1);
    await store.close();
  });

  it("rejects a foreign database", async () => {
    const foreign = removableDirectory();
    const store = await LevelStore.open(foreign.path, { sync: true });
    const batch = store.batch();
    batch.put(42, bytes(1), bytes(1));
    await batch.write();
    await store.close();
    await expect(openDatabase(foreign.path, { sync: true })).rejects.toThrow("not created by Fanal");
    foreign.remove();
  });
});
