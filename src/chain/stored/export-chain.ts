import type { RootHex, Slot } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { BeaconDb, RawEntry } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { Bucket } from "../../db/keys.ts";
import type { StatePosition } from "../../db/repositories/state-repositories.ts";
import { ChainFileWriter, EntryKind } from "./chain-file.ts";
import type { ChainFileHeader } from "./chain-file-header.ts";

/** Number of entries by type. */
export interface ExportedCounts {
  states: number;
  finalizedBlocks: number;
  hotBlocks: number;
  emptySlots: number;
  /** Omitted if there are none. */
  raw?: number;
}

/** Buckets of a full export that are exported as raw entries: all but blocks, payloads, states and their indices. */
const BUCKETS_BESIDE: readonly number[] = [
  Bucket.meta,
  Bucket.hotBlocks,
  Bucket.operations,
  Bucket.lightClientUpdates,
  Bucket.eth1Blocks,
  Bucket.eth1Deposits,
  Bucket.eth1Snapshot,
  Bucket.dataSidecars,
  Bucket.dataBlocks,
];

interface ExportOptions {
  isWhole?: boolean;
  /** Prefix of custom values that belong to blocks. */
  customs?: string;
  signal?: AbortSignal | undefined;
}

/** Rows per entry. */
const EMPTY_SLOTS_PER_ENTRY = 10_000;

/**
 * Exports a database's chain to a new file: stored states and blocks of the finalized chain, all later blocks, and the
 * payloads of these blocks. Excludes the node's own values, such as its key and peers. Only a full export includes pools, votes, sidecars,
 * signing history and all custom values. If the export fails, the incomplete file is deleted.
 */
export async function exportChain(
  db: BeaconDb,
  path: string,
  { isWhole = false, customs, signal }: ExportOptions = {},
): Promise<ExportedCounts> {
  const finalized = await db.meta.getFinalized();
  if (!finalized) throw new DatabaseCorruptError(db.path, "the finalized checkpoint is missing");
  const about: ChainFileHeader = {
    identity: await db.meta.getIdentity(),
    finalized,
    clockSlot: await db.meta.getClockSlot(),
  };
  const file = await ChainFileWriter.create(path, signal);
  try {
    const writeJson = (kind: number, value: unknown) =>
      file.write(kind, new TextEncoder().encode(JSON.stringify(value)));
    const counts: ExportedCounts = { states: 0, finalizedBlocks: 0, hotBlocks: 0, emptySlots: 0 };
    await writeJson(EntryKind.about, about);

    const slots = new Map<RootHex, Slot>();
    for await (const { slot, root } of db.finalizedBlocks.range({})) {
      const bytes = await db.blocks.get(root);
      // The chain may have been started from a state without its block.
      if (!bytes && slots.size > 0) throw new DatabaseCorruptError(db.path, `block ${root} is missing`);
      slots.set(root, slot);
      if (!bytes) continue;
      await file.write(EntryKind.finalizedBlock, bytes);
      counts.finalizedBlocks++;
    }
    for await (const position of db.snapshots.keys()) {
      const bytes = slots.has(position.blockRoot) && (await db.snapshots.get(position.slot, position.blockRoot));
      if (!bytes) continue;
      await file.write(EntryKind.state, bytes);
      counts.states++;
    }
    for await (const { slot, root } of db.hotBlocks.entries()) {
      const bytes = await db.blocks.get(root);
      if (!bytes) throw new DatabaseCorruptError(db.path, `block ${root} is missing`);
      slots.set(root, slot);
      await file.write(EntryKind.hotBlock, bytes);
      counts.hotBlocks++;
    }
    let rows: Uint8Array[] = [];
    const writeRows = async () => {
      if (rows.length > 0) await file.write(EntryKind.emptySlots, Buffer.concat(rows));
      rows = [];
    };
    for await (const entry of db.stateIndex.entries()) {
      const blockSlot = slots.get(entry.blockRoot);
      if (blockSlot === undefined || blockSlot === entry.slot) continue;
      rows.push(emptySlotRow(entry.stateRoot, entry));
      counts.emptySlots++;
      if (rows.length === EMPTY_SLOTS_PER_ENTRY) await writeRows();
    }
    await writeRows();
    const writeRaw = async (entry: RawEntry) => {
      await file.write(EntryKind.raw, rawEntryBytes(entry));
      counts.raw = (counts.raw ?? 0) + 1;
    };
    for await (const entry of db.chainEntries([Bucket.payloads])) {
      if (slots.has(toRootHex(entry.key))) await writeRaw(entry);
    }
    for await (const entry of entriesBeside(db, { isWhole, customs })) await writeRaw(entry);
    await writeJson(EntryKind.end, counts);
    await file.close();
    return counts;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function* entriesBeside(db: BeaconDb, { isWhole, customs }: ExportOptions): AsyncGenerator<RawEntry> {
  if (isWhole) yield* db.chainEntries(BUCKETS_BESIDE);
  else if (customs !== undefined) yield* db.meta.rawCustomEntries(customs);
}

function rawEntryBytes({ bucket, key, value }: RawEntry): Uint8Array {
  const header = Buffer.alloc(RAW_HEADER_BYTES);
  header.writeUInt8(bucket, 0);
  header.writeUInt16BE(key.length, 1);
  return Buffer.concat([header, key, value]);
}

const RAW_HEADER_BYTES = 3;

/** Throws a RangeError for invalid bytes. */
export function readRawEntry(bytes: Uint8Array): RawEntry {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bucket = view.readUInt8(0);
  const end = RAW_HEADER_BYTES + view.readUInt16BE(1);
  const isKnown = bucket === Bucket.payloads || BUCKETS_BESIDE.includes(bucket);
  if (end > bytes.length || !isKnown) throw new RangeError("Invalid raw database entry.");
  return { bucket, key: bytes.subarray(RAW_HEADER_BYTES, end), value: bytes.subarray(end) };
}

const EMPTY_SLOT_BYTES = 72;

function emptySlotRow(stateRoot: RootHex, { slot, blockRoot }: StatePosition): Uint8Array {
  const row = Buffer.alloc(EMPTY_SLOT_BYTES);
  row.set(fromHex(stateRoot));
  row.writeBigUInt64LE(BigInt(slot), 32);
  row.set(fromHex(blockRoot), 40);
  return row;
}

/** Throws a RangeError for invalid bytes. */
export function readEmptySlots(bytes: Uint8Array): { stateRoot: Uint8Array; position: StatePosition }[] {
  const rows = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.ceil(rows.length / EMPTY_SLOT_BYTES) }, (_, n) => {
    const row = rows.subarray(n * EMPTY_SLOT_BYTES, (n + 1) * EMPTY_SLOT_BYTES);
    const slot = Number(row.readBigUInt64LE(32));
    if (row.length < EMPTY_SLOT_BYTES || !Number.isSafeInteger(slot)) throw new RangeError("Invalid empty slot.");
    return { stateRoot: row.subarray(0, 32), position: { slot, blockRoot: toRootHex(row.subarray(40)) } };
  });
}
