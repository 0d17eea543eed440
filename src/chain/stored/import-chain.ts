import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch, RawEntry } from "../../db/beacon-db.ts";
import { Bucket } from "../../db/keys.ts";
import { upgradeSchema } from "../../db/open-database.ts";
import { latestBlockHeader } from "../anchor/anchor.ts";
import { blockRoot, deserializeSignedBlock } from "../blocks/block-encoding.ts";
import { readState } from "../states/read-state.ts";
import { ChainFileError, EntryKind, readChainFile } from "./chain-file.ts";
import { readChainFileHeader } from "./chain-file-header.ts";
import { checkChain } from "./check-chain.ts";
import { type ExportedCounts, readEmptySlots, readRawEntry } from "./export-chain.ts";

/**
 * The SSZ encoding of BeaconState starts with genesis time (8 bytes) and genesis validators root (32), followed by the
 * slot.
 */
const STATE_SLOT_OFFSET = 40;

/** Written immediately, because their entries do not fit into memory. Blocks do not depend on them. */
const LARGE_BUCKETS: ReadonlySet<number> = new Set([Bucket.dataSidecars, Bucket.dataBlocks, Bucket.payloads]);

interface ImportParts {
  config: BeaconConfig;
  /** A database without a chain. */
  db: BeaconDb;
  onProgress(done: { blocks: number; states: number }): void;
}

/**
 * Imports a chain file into a database. Verifies blocks and states by their hashes but does not execute them, so the
 * file must come from a trusted source. Writes the chain's identity last, so after a crash the database contains no
 * chain. Throws a `ChainFileError`.
 */
export async function importChain(path: string, { config, db, onProgress }: ImportParts): Promise<ExportedCounts> {
  const about = await readChainFileHeader(path);
  await db.clear();
  await upgradeSchema(db);
  const counts: ExportedCounts = { states: 0, finalizedBlocks: 0, hotBlocks: 0, emptySlots: 0 };
  const raw: RawEntry[] = [];
  let end: ExportedCounts | undefined;
  for await (const { kind, bytes } of readChainFile(path)) {
    const batch = db.batch();
    if (kind === EntryKind.end) end = await readJson<ExportedCounts>(bytes);
    else await importEntry(kind, bytes, { config, batch, counts, raw });
    await batch.write();
  }
  if (end === undefined || JSON.stringify(end) !== JSON.stringify(counts)) throw new ChainFileError("it is incomplete");
  const last = db.batch();
  last.meta.putFinalized(about.finalized);
  await last.write();
  const { problems } = await checkChain({ config, db, onProgress });
  if (problems[0] !== undefined)
    throw new ChainFileError(`it does not contain a valid chain: ${problems[0].replace(/\.$/, "")}`);
  const named = db.batch();
  for (const entry of raw) named.putRaw(entry);
  // Makes the node check the data again and fetch missing parts.
  named.meta.putHeldData({ from: 0, groups: 0 });
  named.meta.putIdentity(about.identity);
  if (about.clockSlot !== null) named.meta.putClockSlot(about.clockSlot);
  await named.write();
  return counts;
}

interface EntryParts {
  config: BeaconConfig;
  batch: BeaconDbBatch;
  counts: ExportedCounts;
  /** Entries to write together with the chain's identity. */
  raw: RawEntry[];
}

async function importEntry(kind: number, bytes: Uint8Array, { config, batch, counts, raw }: EntryParts): Promise<void> {
  switch (kind) {
    case EntryKind.about:
      return;
    case EntryKind.finalizedBlock:
    case EntryKind.hotBlock: {
      const { message } = await decode(() => deserializeSignedBlock(config, bytes), "a block");
      const { slot, parentRoot, stateRoot } = message;
      const root = blockRoot(config, message);
      batch.blocks.put(root, bytes);
      batch.stateIndex.put(stateRoot, { slot, blockRoot: root });
      if (kind === EntryKind.finalizedBlock) batch.finalizedBlocks.put(slot, root);
      else batch.hotBlocks.put(slot, root, parentRoot);
      counts[kind === EntryKind.finalizedBlock ? "finalizedBlocks" : "hotBlocks"]++;
      return;
    }
    case EntryKind.state: {
      const state = await decode(() => readStateEntry(config, bytes), "a state");
      const header = latestBlockHeader(state);
      const root = ssz.phase0.BeaconBlockHeader.hashTreeRoot(header);
      batch.snapshots.put(state.slot, root, bytes);
      batch.stateIndex.put(state.hashTreeRoot(), { slot: state.slot, blockRoot: root });
      // The block of the first state may not be in the file.
      if (counts.states === 0) batch.finalizedBlocks.put(header.slot, root);
      counts.states++;
      return;
    }
    case EntryKind.emptySlots:
      for (const { stateRoot, position } of await decode(() => readEmptySlots(bytes), "a list of empty slots")) {
        batch.stateIndex.put(stateRoot, position);
        counts.emptySlots++;
      }
      return;
    case EntryKind.raw: {
      const entry = await decode(() => readRawEntry(bytes), "an entry of the database");
      if (LARGE_BUCKETS.has(entry.bucket)) batch.putRaw(entry);
      else raw.push(entry);
      counts.raw = (counts.raw ?? 0) + 1;
      return;
    }
    default:
      throw new ChainFileError(`it has an entry of unknown type ${kind}`);
  }
}

async function readStateEntry(config: BeaconConfig, bytes: Uint8Array): Promise<BeaconStateAllForks> {
  const slot = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(STATE_SLOT_OFFSET, true));
  return readState(config.getForkTypes(slot).BeaconState, bytes);
}

async function decode<T>(read: () => T | Promise<T>, what: string): Promise<T> {
  try {
    return await read();
  } catch {
    throw new ChainFileError(`${what} in it cannot be decoded`);
  }
}

function readJson<T>(bytes: Uint8Array): Promise<T> {
  return decode(() => JSON.parse(new TextDecoder().decode(bytes)) as T, "a description");
}
