import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { readStoredBlock } from "../blocks/stored-block.ts";
import { storedSidecar } from "../data/stored-sidecar.ts";
import { readSnapshot } from "../states/stored-state.ts";

/** Where a block that is as it should be hangs on the chain. */
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
  /** Of blobs and columns. */
  sidecars: number;
  /** Whole sentences. */
  problems: string[];
}

interface CheckParts {
  config: BeaconConfig;
  db: BeaconDb;
  /** Told how many blocks or states have been read. */
  onProgress(done: { blocks: number; states: number }): void;
}

const PROGRESS_EVERY_BLOCKS = 1000;

/** Looks at everything that makes up the chain of a database: every block, sidecar and state, and that they fit together. */
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
  let before: { slot: Slot; root: RootHex } | undefined;
  for await (const entry of db.finalizedBlocks.range({})) {
    const link = links.get(entry.root);
    // A chain may have been started from a state alone.
    if (!link && before) note(`The finalized block ${entry.root} of slot ${entry.slot} is not there.`);
    if (link && link.slot !== entry.slot) note(`The finalized block ${entry.root} is not of slot ${entry.slot}.`);
    if (link && before && link.parentRoot !== before.root) {
      note(`The finalized block of slot ${entry.slot} is not the child of that of slot ${before.slot}.`);
    }
    finalizedBlocks++;
    before = entry;
  }
  const finalized = await db.meta.getFinalized();
  if (before?.root !== finalized?.root) note("The finalized chain does not end with the finalized checkpoint's block.");

  let hotBlocks = 0;
  for await (const { slot, root, parentRoot } of db.hotBlocks.entries()) {
    const link = links.get(root);
    if (link?.slot !== slot || link.parentRoot !== parentRoot) note(`The block ${root} of slot ${slot} is not there.`);
    hotBlocks++;
  }

  const sidecars = await checkSidecars(db, links, note);

  let states = 0;
  let hasFinalizedState = false;
  for await (const position of db.snapshots.keys()) {
    const state = await attempt(() => readSnapshot({ config, db }, position), note);
    if (state && position.blockRoot === finalized?.root) hasFinalizedState = true;
    onProgress({ blocks, states: ++states });
  }
  if (!hasFinalizedState) note("The state of the finalized block is not there.");
  return { blocks, finalizedBlocks, hotBlocks, states, sidecars, problems };
}

/** How many there are. */
async function checkSidecars(
  db: BeaconDb,
  links: ReadonlyMap<RootHex, BlockLink>,
  note: (problem: string) => void,
): Promise<number> {
  const listed = new Set<RootHex>();
  for await (const { slot, root } of db.data.blocks()) {
    if (links.get(root)?.slot !== slot) note(`The block ${root} of slot ${slot}, which has sidecars, is not there.`);
    listed.add(root);
  }
  let sidecars = 0;
  for await (const place of db.data.sidecars()) {
    if (!listed.has(place.root)) note(`Sidecar ${place.index} of the block ${place.root} is of no block that has any.`);
    await attempt(() => storedSidecar(db, place), note);
    sidecars++;
  }
  return sidecars;
}

/** Throws a `DatabaseCorruptError` when the bytes are not those of the block. */
export function linkOf(stored: { config: BeaconConfig; db: BeaconDb }, root: RootHex, bytes: Uint8Array): BlockLink {
  const { slot, parentRoot, stateRoot } = readStoredBlock(stored, root, bytes).message;
  return { slot, parentRoot: toRootHex(parentRoot), stateRoot };
}

/** Undefined, and a problem is noted, for what is not as it should be. */
export async function attempt<T>(read: () => T | Promise<T>, note: (problem: string) => void): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatabaseCorruptError)) throw error;
    note(error.problem);
    return undefined;
  }
}
