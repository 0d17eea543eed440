import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { readStoredBlock } from "../blocks/stored-block.ts";
import { storedSidecar } from "../data/stored-sidecar.ts";
import { storedEnvelope } from "../payloads/payload-store.ts";
import { readSnapshot } from "../states/stored-state.ts";

/** Slot and parent of an intact block. */
export interface BlockLink {
  slot: Slot;
  parentRoot: RootHex;
  stateRoot: Uint8Array;
}

export interface CheckedChain {
  blocks: number;
  finalizedBlocks: number;
  hotBlocks: number;
  states: number;
  /** Blob and column sidecars. */
  sidecars: number;
  /** Problems found, as complete sentences. */
  problems: string[];
}

interface CheckParts {
  config: BeaconConfig;
  db: BeaconDb;
  /** Reports the number of blocks or states read. */
  onProgress(done: { blocks: number; states: number }): void;
}

const PROGRESS_EVERY_BLOCKS = 1000;

/** Checks all blocks, sidecars and states of a database, and that the blocks form a chain. */
export async function checkChain({ config, db, onProgress }: CheckParts): Promise<CheckedChain> {
  const problems: string[] = [];
  const note = (problem: string) => problems.push(problem);
  const links = new Map<RootHex, BlockLink>();
  let blocks = 0;
  for await (const { root, bytes } of db.blocks.entries()) {
    const link = await attempt(() => linkOf({ config, db }, root, bytes), note);
    if (link) links.set(root, link);
    if (++blocks % PROGRESS_EVERY_BLOCKS === 0) onProgress({ blocks, states: 0 });
  }

  let finalizedBlocks = 0;
  let previous: { slot: Slot; root: RootHex } | undefined;
  for await (const entry of db.finalizedBlocks.range({})) {
    const link = links.get(entry.root);
    // The chain may have been started from a state without its block.
    if (!link && previous) note(`The finalized block ${entry.root} of slot ${entry.slot} is missing.`);
    if (link && link.slot !== entry.slot) note(`The finalized block ${entry.root} does not have slot ${entry.slot}.`);
    if (link && previous && link.parentRoot !== previous.root) {
      note(`The finalized block of slot ${entry.slot} is not a child of the one of slot ${previous.slot}.`);
    }
    finalizedBlocks++;
    previous = entry;
  }
  const finalized = await db.meta.getFinalized();
  if (previous?.root !== finalized?.root) note("The finalized chain does not end in the finalized checkpoint.");

  let hotBlocks = 0;
  for await (const { slot, root, parentRoot } of db.hotBlocks.entries()) {
    const link = links.get(root);
    if (link?.slot !== slot || link.parentRoot !== parentRoot) note(`Block ${root} of slot ${slot} is missing.`);
    hotBlocks++;
  }

  const sidecars = await checkSidecars(db, links, note);
  await checkPayloads(db, links, note);

  let states = 0;
  let hasFinalizedState = false;
  for await (const position of db.snapshots.keys()) {
    const state = await attempt(() => readSnapshot({ config, db }, position), note);
    if (state && position.blockRoot === finalized?.root) hasFinalizedState = true;
    onProgress({ blocks, states: ++states });
  }
  if (!hasFinalizedState) note("The state of the finalized block is missing.");
  return { blocks, finalizedBlocks, hotBlocks, states, sidecars, problems };
}

/** Returns the number of sidecars. */
async function checkSidecars(
  db: BeaconDb,
  links: ReadonlyMap<RootHex, BlockLink>,
  note: (problem: string) => void,
): Promise<number> {
  const listed = new Set<RootHex>();
  for await (const { slot, root } of db.data.blocks()) {
    if (links.get(root)?.slot !== slot) note(`Block ${root} of slot ${slot} is missing, but has sidecars.`);
    listed.add(root);
  }
  let sidecars = 0;
  for await (const id of db.data.sidecars()) {
    if (!listed.has(id.root))
      note(`Sidecar ${id.index} of block ${id.root} is not in the index of blocks with sidecars.`);
    await attempt(() => storedSidecar(db, id), note);
    sidecars++;
  }
  return sidecars;
}

async function checkPayloads(
  db: BeaconDb,
  links: ReadonlyMap<RootHex, BlockLink>,
  note: (problem: string) => void,
): Promise<void> {
  for await (const root of db.payloads.roots()) {
    const envelope = await attempt(() => storedEnvelope(db, root), note);
    if (!envelope) continue;
    const slot = envelope.message.payload.slotNumber;
    if (links.get(root)?.slot !== slot) note(`Block ${root} of slot ${slot} is missing, but has a payload.`);
  }
}

/** Throws a `DatabaseCorruptError` if the bytes do not match the root. */
export function linkOf(stored: { config: BeaconConfig; db: BeaconDb }, root: RootHex, bytes: Uint8Array): BlockLink {
  const { slot, parentRoot, stateRoot } = readStoredBlock(stored, root, bytes).message;
  return { slot, parentRoot: toRootHex(parentRoot), stateRoot };
}

/** Returns undefined and reports the problem if the entry is damaged. */
export async function attempt<T>(read: () => T | Promise<T>, note: (problem: string) => void): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatabaseCorruptError)) throw error;
    note(error.problem);
    return undefined;
  }
}
