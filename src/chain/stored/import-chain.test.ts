import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { blockOn, chainOf, config, storeChain, write } from "../../../test/support/chain/stored/linked-blocks.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { ChainFileError, ChainFileWriter, EntryKind, type FileEntry, readChainFile } from "./chain-file.ts";
import { type ExportedCounts, exportChain } from "./export-chain.ts";
import { importChain } from "./import-chain.ts";

const finalized = chainOf([0, 1, 2]);
const hot = chainOf([3, 4], finalized.at(-1));
/** Clock slot of a dev chain whose last slots were empty. */
const CLOCK_SLOT = 9;
const WHOLE: ExportedCounts = { states: 1, finalizedBlocks: 3, hotBlocks: 2, emptySlots: 0 };

/** Exports a chain and imports it into another database after changing its entries. */
async function importChanged(change: (entries: FileEntry[]) => FileEntry[]) {
  const directory = removableDirectory();
  onTestFinished(directory.remove);
  const path = join(directory.path, "chain");
  const source = await openEmptyDatabase();
  await storeChain(source, { finalized, hot });
  await write(source, (batch) => batch.meta.putClockSlot(CLOCK_SLOT));
  await exportChain(source, path);
  const entries = await Array.fromAsync(readChainFile(path));
  await rm(path);
  const file = await ChainFileWriter.create(path);
  for (const { kind, bytes } of change(entries)) await file.write(kind, bytes);
  await file.close();
  const db = await openEmptyDatabase();
  return { db, imported: importChain(path, { config, db, onProgress: () => {} }) };
}

const json = (kind: number, value: unknown): FileEntry => ({
  kind,
  bytes: new TextEncoder().encode(JSON.stringify(value)),
});

/** Replaces the counts at the end of a file. */
const withCounts = (entries: FileEntry[], counts: ExportedCounts) => [
  ...entries.filter(({ kind }) => kind !== EntryKind.end),
  json(EntryKind.end, counts),
];

const without = (entries: FileEntry[], { bytes }: { bytes: Uint8Array }) =>
  entries.filter((entry) => Buffer.compare(entry.bytes, bytes) !== 0);

it("a complete file restores the exported chain", async () => {
  const { db, imported } = await importChanged((entries) => entries);
  expect(await imported).toEqual(WHOLE);
  expect(await db.meta.getIdentity()).toEqual({ kind: "test" });
  expect(await db.meta.getClockSlot()).toBe(CLOCK_SLOT);
  expect((await Array.fromAsync(db.finalizedBlocks.range({}))).map(({ root }) => root)).toEqual(
    finalized.map(({ root }) => root),
  );
  expect((await Array.fromAsync(db.hotBlocks.entries())).map(({ root }) => root)).toEqual(hot.map(({ root }) => root));
});

it.each<[string, (entries: FileEntry[]) => FileEntry[], string]>([
  ["without its end", (entries) => entries.slice(0, -1), "it is incomplete"],
  ["that lacks its last block", (entries) => without(entries, hot[1]!), "it is incomplete"],
  [
    "that has more states than it counts",
    (entries) => withCounts(entries, { ...WHOLE, states: 0 }),
    "it is incomplete",
  ],
  [
    "with a gap in its finalized chain",
    (entries) => withCounts(without(entries, finalized[1]!), { ...WHOLE, finalizedBlocks: 2 }),
    "it does not contain a valid chain: The finalized block of slot 2 is not a child of the one of slot 0",
  ],
  [
    "with a finalized block of another branch",
    (entries) =>
      entries.map((entry) =>
        Buffer.compare(entry.bytes, finalized[1]!.bytes) === 0
          ? { ...entry, bytes: blockOn(finalized[0]!, 1, 1).bytes }
          : entry,
      ),
    "it does not contain a valid chain: The finalized block of slot 2 is not a child of the one of slot 1",
  ],
  [
    "without the finalized state",
    (entries) =>
      withCounts(
        entries.filter(({ kind }) => kind !== EntryKind.state),
        { ...WHOLE, states: 0 },
      ),
    "it does not contain a valid chain: The state of the finalized block is missing",
  ],
  [
    "with a block that is none",
    (entries) => [...entries, { kind: EntryKind.hotBlock, bytes: Uint8Array.of(1) }],
    "a block in it cannot be decoded",
  ],
  [
    "with a state that is none",
    (entries) => [...entries, { kind: EntryKind.state, bytes: new Uint8Array(48) }],
    "a state in it cannot be decoded",
  ],
  [
    "with half an empty slot",
    (entries) => [...entries, { kind: EntryKind.emptySlots, bytes: new Uint8Array(36) }],
    "a list of empty slots in it cannot be decoded",
  ],
  [
    "with a raw entry that is none",
    (entries) => [...entries, { kind: EntryKind.raw, bytes: Uint8Array.of(1) }],
    "an entry of the database in it cannot be decoded",
  ],
  [
    "with an end that is no JSON",
    (entries) => [...entries, { kind: EntryKind.end, bytes: Uint8Array.of(1) }],
    "a description in it cannot be decoded",
  ],
  ["with an unknown kind of entry", (entries) => [...entries, json(99, {})], "it has an entry of unknown type 99"],
])("rejects a file %s and leaves the database without a chain", async (_, change, message) => {
  const { db, imported } = await importChanged(change);
  await expect(imported).rejects.toThrow(new ChainFileError(message));
  expect(await db.meta.getIdentity()).toBeNull();
});
