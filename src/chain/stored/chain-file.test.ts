import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32c } from "@node-rs/crc32";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { ChainFileError, ChainFileWriter, EntryKind, type FileEntry, readChainFile } from "./chain-file.ts";
import { readChainFileHeader } from "./chain-file-header.ts";

const MAGIC_BYTES = 14;
const HEADER_BYTES = 9;
const ENTRIES: FileEntry[] = [
  { kind: EntryKind.about, bytes: new Uint8Array() },
  { kind: EntryKind.hotBlock, bytes: Uint8Array.of(1, 2, 3) },
  { kind: EntryKind.end, bytes: new Uint8Array(100_000).fill(7) },
];

async function temporaryPath(): Promise<string> {
  const directory = removableDirectory();
  onTestFinished(directory.remove);
  return join(directory.path, "chain");
}

async function writtenFile(entries: readonly FileEntry[]): Promise<string> {
  const path = await temporaryPath();
  const file = await ChainFileWriter.create(path);
  for (const { kind, bytes } of entries) await file.write(kind, bytes);
  await file.close();
  return path;
}

/** Reads a file after replacing its bytes. Returns the number of intact entries and the problem with the next entry. */
async function readChanged(path: string, bytes: Uint8Array): Promise<[number, string]> {
  await writeFile(path, bytes);
  let intact = 0;
  try {
    for await (const _ of readChainFile(path)) intact++;
    return [intact, "none"];
  } catch (error) {
    if (!(error instanceof ChainFileError)) throw error;
    return [intact, error.message];
  }
}

/** An entry with the given content and a correct checksum. */
function entryOf(kind: number, content: Uint8Array, length = content.length): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(length, 1);
  header.writeUInt32LE(crc32c(Buffer.from(content), crc32c(header.subarray(0, 5))), 5);
  return Buffer.concat([header, content]);
}

it("reads what was written, and compresses it", async () => {
  const path = await writtenFile(ENTRIES);
  expect(await Array.fromAsync(readChainFile(path))).toEqual(ENTRIES);
  expect((await stat(path)).size).toBeLessThan(10_000);
});

it("is readable by its owner only", async () => {
  expect((await stat(await writtenFile([]))).mode & 0o777).toBe(0o600);
});

it("does not overwrite a file", async () => {
  const path = await writtenFile(ENTRIES);
  await expect(ChainFileWriter.create(path)).rejects.toThrow("EEXIST");
  expect(await Array.fromAsync(readChainFile(path))).toHaveLength(3);
});

it("writes nothing more once aborted, and leaves no file when discarded", async () => {
  const path = await temporaryPath();
  const abort = new AbortController();
  const file = await ChainFileWriter.create(path, abort.signal);
  await file.write(1, Uint8Array.of(1));
  abort.abort(new Error("The caller is gone."));
  await expect(file.write(1, Uint8Array.of(2))).rejects.toThrow("The caller is gone.");
  expect(await Array.fromAsync(readChainFile(path))).toHaveLength(1);
  await file.discard();
  await expect(stat(path)).rejects.toThrow("ENOENT");
});

it("finds a flipped bit in any byte of an entry", async () => {
  const path = await writtenFile(ENTRIES.slice(1, 2));
  const bytes = await readFile(path);
  for (let at = MAGIC_BYTES; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(await readChanged(path, changed), `byte ${at}`).toEqual([0, "entry 1 is damaged or truncated"]);
  }
});

it("finds a file that ends anywhere but between entries", async () => {
  const path = await writtenFile([ENTRIES[1]!, ENTRIES[1]!]);
  const bytes = await readFile(path);
  const entryBytes = (bytes.length - MAGIC_BYTES) / 2;
  for (let length = 0; length < bytes.length; length++) {
    const intact = Math.floor((length - MAGIC_BYTES) / entryBytes);
    const isBetween = length >= MAGIC_BYTES && (length - MAGIC_BYTES) % entryBytes === 0;
    const problem = length < MAGIC_BYTES ? "it is not a chain file" : `entry ${intact + 1} is damaged or truncated`;
    expect(await readChanged(path, bytes.subarray(0, length)), `${length} bytes`).toEqual([
      Math.max(0, intact),
      isBetween ? "none" : problem,
    ]);
  }
});

it.each<[string, Buffer]>([
  ["is not compressed", entryOf(1, Uint8Array.of(0xff, 0xff, 0xff))],
  ["would be larger than the memory", entryOf(1, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0x00))],
  ["is longer than the file", entryOf(1, Uint8Array.of(1), 0xffffffff)],
])("finds an entry that %s", async (_, entry) => {
  const path = await writtenFile([]);
  const problem = await readChanged(path, Buffer.concat([await readFile(path), entry]));
  expect(problem).toEqual([0, "entry 1 is damaged or truncated"]);
});

it("finds another file", async () => {
  const path = await temporaryPath();
  expect(await readChanged(path, Buffer.from("fanal chain 2\nand more"))).toEqual([0, "it is not a chain file"]);
});

const HEADER = { identity: { kind: "dev" }, finalized: { epoch: 3, root: `0x${"ab".repeat(32)}` }, clockSlot: 9 };
const json = (value: unknown): FileEntry => ({ kind: EntryKind.about, bytes: Buffer.from(JSON.stringify(value)) });

it.each([9, null])("reads a header with the clock slot %s", async (clockSlot) => {
  const header = { ...HEADER, clockSlot };
  expect(await readChainFileHeader(await writtenFile([json(header)]))).toEqual(header);
});

it.each<[string, FileEntry[]]>([
  ["no entry", []],
  ["another first entry", [{ ...json(HEADER), kind: EntryKind.end }, json(HEADER)]],
  ["no JSON", [{ kind: EntryKind.about, bytes: Buffer.from("{") }]],
  ["null", [json(null)]],
  ["no finalized checkpoint", [json({ ...HEADER, finalized: undefined })]],
  ["a root that is none", [json({ ...HEADER, finalized: { epoch: 3, root: "0x" } })]],
  ["an epoch that is none", [json({ ...HEADER, finalized: { ...HEADER.finalized, epoch: -1 } })]],
  ["a clock slot that is none", [json({ ...HEADER, clockSlot: "9" })]],
])("rejects a header with %s", async (_, entries) => {
  const reading = readChainFileHeader(await writtenFile(entries));
  await expect(reading).rejects.toThrow(ChainFileError);
  await expect(reading).rejects.toThrow("it has no valid chain header");
});
