import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { blockOn, finalizedAndHot, storeChain, write } from "../../../test/support/chain/stored/linked-blocks.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { Bucket } from "../../db/keys.ts";
import { EntryKind, readChainFile } from "./chain-file.ts";
import { readChainFileHeader } from "./chain-file-header.ts";
import { exportChain, readEmptySlots, readRawEntry } from "./export-chain.ts";

const { finalized, hot, genesis, first, second, last, tip } = finalizedAndHot();
const STATE_ROOT = `0x${"ab".repeat(32)}`;

async function storedChain(change: (batch: BeaconDbBatch) => void = () => {}): Promise<{ db: BeaconDb; path: string }> {
  const directory = removableDirectory();
  onTestFinished(directory.remove);
  const db = await openEmptyDatabase();
  await storeChain(db, { finalized, hot });
  await write(db, change);
  return { db, path: join(directory.path, "chain") };
}

const entriesOf = async (path: string, wanted: number) =>
  (await Array.fromAsync(readChainFile(path))).filter(({ kind }) => kind === wanted).map(({ bytes }) => bytes);

it("exports the finalized chain and all later blocks, in the order of slots", async () => {
  const { db, path } = await storedChain((batch) => batch.meta.putClockSlot(12));
  expect(await exportChain(db, path)).toEqual({ states: 1, finalizedBlocks: 4, hotBlocks: 2, emptySlots: 0 });
  expect(await readChainFileHeader(path)).toEqual({
    identity: { kind: "test" },
    finalized: { epoch: 0, root: last.root },
    clockSlot: 12,
  });
  expect(await entriesOf(path, EntryKind.finalizedBlock)).toEqual(finalized.map(({ bytes }) => bytes));
  expect(await entriesOf(path, EntryKind.hotBlock)).toEqual(hot.map(({ bytes }) => bytes));
  expect(await entriesOf(path, EntryKind.state)).toEqual([last.state]);
});

it("exports no blocks and states off the finalized chain", async () => {
  const stray = blockOn(genesis, 2, 1);
  const { db, path } = await storedChain((batch) => {
    batch.blocks.put(stray.root, stray.bytes);
    batch.snapshots.put(stray.slot, stray.root, stray.state);
    batch.snapshots.put(tip.slot, tip.root, tip.state);
    batch.stateIndex.put(STATE_ROOT, { slot: 3, blockRoot: stray.root });
  });
  expect(await exportChain(db, path)).toEqual({ states: 1, finalizedBlocks: 4, hotBlocks: 2, emptySlots: 0 });
});

it("exports the states of empty slots", async () => {
  const position = { slot: 3, blockRoot: second.root };
  const { db, path } = await storedChain((batch) => {
    batch.stateIndex.put(STATE_ROOT, position);
    batch.stateIndex.put(new Uint8Array(32).fill(1), { slot: second.slot, blockRoot: second.root });
  });
  expect(await exportChain(db, path)).toMatchObject({ emptySlots: 1 });
  const [rows] = await entriesOf(path, EntryKind.emptySlots);
  expect(readEmptySlots(rows!)).toEqual([{ stateRoot: Buffer.alloc(32, 0xab), position }]);
});

it("only a full export includes all other values of the chain, and none includes those of the node", async () => {
  const { db, path } = await storedChain((batch) => {
    batch.meta.putNodeKey(new Uint8Array(32).fill(5));
    batch.meta.putCustom("offline", Uint8Array.of(1));
    batch.meta.putCustom("other", Uint8Array.of(2));
  });
  expect(await exportChain(db, path)).not.toHaveProperty("raw");
  expect(await entriesOf(path, EntryKind.raw)).toEqual([]);
  await exportChain(db, `${path}-customs`, { customs: "off" });
  const customs = (await entriesOf(`${path}-customs`, EntryKind.raw)).map(readRawEntry);
  expect(customs.map(({ value }) => [...value])).toEqual([[1]]);
  const { raw } = await exportChain(db, `${path}-full`, { isWhole: true });
  const entries = (await entriesOf(`${path}-full`, EntryKind.raw)).map(readRawEntry);
  expect(entries).toHaveLength(raw!);
  const values = entries.filter(({ bucket }) => bucket === Bucket.meta).map(({ value }) => [...value]);
  expect(values).toContainEqual([1]);
  expect(values).not.toContainEqual(new Array(32).fill(5));
});

it("accepts a missing first block: a chain may start from a state alone", async () => {
  const { db, path } = await storedChain((batch) => batch.blocks.delete(genesis.root));
  expect(await exportChain(db, path)).toMatchObject({ finalizedBlocks: 3, states: 1 });
});

it.each<[string, (batch: BeaconDbBatch) => void, string]>([
  ["a finalized block", (batch) => batch.blocks.delete(first.root), `block ${first.root} is missing`],
  ["a later block", (batch) => batch.blocks.delete(tip.root), `block ${tip.root} is missing`],
])("stops without %s and deletes the file", async (_, damage, problem) => {
  const { db, path } = await storedChain(damage);
  const exporting = exportChain(db, path);
  await expect(exporting).rejects.toThrow(DatabaseCorruptError);
  await expect(exporting).rejects.toThrow(problem);
  expect(existsSync(path)).toBe(false);
});

it("creates no file without a finalized checkpoint", async () => {
  const { path } = await storedChain();
  const empty = await openEmptyDatabase();
  await expect(exportChain(empty, path)).rejects.toThrow("the finalized checkpoint is missing");
  expect(existsSync(path)).toBe(false);
});

it("deletes the file when aborted", async () => {
  const { db, path } = await storedChain();
  const signal = AbortSignal.abort(new Error("The caller is gone."));
  await expect(exportChain(db, path, { signal })).rejects.toThrow("The caller is gone.");
  expect(existsSync(path)).toBe(false);
});

it.each<[string, number[]]>([
  ["no bytes", []],
  ["half a header", [Bucket.meta, 0]],
  ["a key that is longer than the entry", [Bucket.meta, 0, 3, 1, 2]],
  ["a bucket of blocks", [Bucket.blocks, 0, 1, 1]],
])("rejects a raw entry with %s", (_, bytes) => {
  expect(() => readRawEntry(Uint8Array.from(bytes))).toThrow(RangeError);
});

it.each([
  ["an incomplete row", new Uint8Array(72 + 71)],
  ["a row without a slot", new Uint8Array(32)],
  ["a slot above 2^53", new Uint8Array(72).fill(0xff)],
])("rejects %s of empty slots", (_, bytes) => {
  expect(() => readEmptySlots(bytes)).toThrow(RangeError);
});
