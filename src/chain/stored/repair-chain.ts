import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import { upgradeSchema } from "../../db/open-database.ts";
import type { StatePosition } from "../../db/repositories/state-repositories.ts";
import { storedSidecar } from "../data/stored-sidecar.ts";
import { storedEnvelope } from "../payloads/payload-store.ts";
import { readSnapshot } from "../states/stored-state.ts";
import { attempt, type BlockLink, linkOf } from "./check-chain.ts";

interface RepairParts {
  config: BeaconConfig;
  db: BeaconDb;
  /** If set, also drops all blocks and states from this slot on. */
  before?: Slot;
}

/** Result of a repair. */
export interface RepairedChain {
  firstSlot: Slot;
  finalizedSlot: Slot;
  newestSlot: Slot;
  blocks: number;
  states: number;
  /** Descriptions of damaged entries that were dropped, as complete sentences. */
  dropped: string[];
}

/** An intact state, with the slot of its latest block. */
interface IntactState extends StatePosition {
  blockSlot: Slot;
}

/**
 * Rebuilds a chain from the intact parts of a database: from the oldest state with a gapless chain to the newest
 * finalized state, and all later descendants, which are executed at the next start. Deletes everything else. Returns
 * null if there is no intact finalized state. Requires exclusive access.
 */
export async function repairChain(parts: RepairParts): Promise<RepairedChain | null> {
  const { db, before = Number.POSITIVE_INFINITY } = parts;
  await upgradeSchema(db);
  const dropped: string[] = [];
  const intact = await intactBlocks(parts, dropped);
  const links = new Map([...intact].filter(([, { slot }]) => slot < before));
  const states = (await intactStates(parts, dropped)).filter(({ slot }) => slot < before);
  const final = await finalRoots(db);
  const newest = states.findLast(({ blockRoot }) => final.has(blockRoot));
  if (!newest) return null;
  const chain = chainDownFrom(newest, links);
  const oldest = states.find(({ blockRoot }) => chain.has(blockRoot)) ?? newest;
  for (const [root, slot] of chain) if (slot < oldest.blockSlot) chain.delete(root);
  const hot = descendants(newest, links);

  await deleteIndices(db);
  // Delete blocks outside the remaining chain, because it is unknown whether they were canonical.
  const obsoleteRoots = [...intact.keys()].filter((root) => !chain.has(root) && !hot.has(root));
  await inBatches(db, obsoleteRoots, (batch, root) => batch.blocks.delete(root));
  await inBatches(db, chain, (batch, [root, slot]) => {
    batch.finalizedBlocks.put(slot, root);
    const link = links.get(root);
    if (link) batch.stateIndex.put(link.stateRoot, { slot, blockRoot: root });
  });
  await inBatches(db, hot, (batch, [root, { slot, parentRoot, stateRoot }]) => {
    batch.hotBlocks.put(slot, root, parentRoot);
    batch.stateIndex.put(stateRoot, { slot, blockRoot: root });
  });
  const slots = new Map([...chain, ...[...hot].map(([root, { slot }]) => [root, slot] as const)]);
  await repairSidecars(db, slots, dropped);
  await repairPayloads(db, slots, dropped);
  const remaining = states.filter(({ blockRoot }) => chain.has(blockRoot));
  await deleteStatesBut(db, remaining);
  const batch = db.batch();
  batch.meta.deleteVotes();
  batch.meta.putHeldData({ from: 0, groups: 0 });
  batch.meta.putFinalized({ epoch: computeEpochAtSlot(newest.slot), root: newest.blockRoot });
  await batch.write();
  return {
    firstSlot: oldest.blockSlot,
    finalizedSlot: newest.blockSlot,
    newestSlot: [...hot.values()].at(-1)?.slot ?? newest.blockSlot,
    blocks: chain.size + hot.size,
    states: remaining.length,
    dropped,
  };
}

async function intactBlocks(parts: RepairParts, dropped: string[]): Promise<Map<RootHex, BlockLink>> {
  const { db } = parts;
  const links = new Map<RootHex, BlockLink>();
  const damaged: RootHex[] = [];
  for await (const { root, bytes } of db.blocks.entries()) {
    const link = await attempt(
      () => linkOf(parts, root, bytes),
      (problem) => dropped.push(problem),
    );
    if (link) links.set(root, link);
    else damaged.push(root);
  }
  await inBatches(db, damaged, (batch, root) => batch.blocks.delete(root));
  return links;
}

/** Returns the intact states in slot order. */
async function intactStates(parts: RepairParts, dropped: string[]): Promise<IntactState[]> {
  const { db } = parts;
  const states: IntactState[] = [];
  for await (const position of db.snapshots.keys()) {
    const state = await attempt(
      () => readSnapshot(parts, position),
      (problem) => dropped.push(problem),
    );
    if (state) states.push({ ...position, blockSlot: state.latestBlockHeader.slot });
  }
  return states;
}

async function finalRoots(db: BeaconDb): Promise<Set<RootHex>> {
  const roots = new Set<RootHex>();
  for await (const { root } of db.finalizedBlocks.range({})) roots.add(root);
  const finalized = await db.meta.getFinalized();
  if (finalized) roots.add(finalized.root);
  return roots;
}

/** Returns a state's block and its stored ancestors, with their slots. */
function chainDownFrom({ blockRoot, blockSlot }: IntactState, links: Map<RootHex, BlockLink>): Map<RootHex, Slot> {
  const chain = new Map([[blockRoot, blockSlot]]);
  for (let link = links.get(blockRoot); link; ) {
    const parent = links.get(link.parentRoot);
    if (parent) chain.set(link.parentRoot, parent.slot);
    link = parent;
  }
  return chain;
}

/** Returns the descendants of a state's block, in slot order. */
function descendants({ blockRoot }: IntactState, links: Map<RootHex, BlockLink>): Map<RootHex, BlockLink> {
  const blocks = new Map<RootHex, BlockLink>();
  for (const [root, link] of [...links].sort(([, a], [, b]) => a.slot - b.slot)) {
    if (link.parentRoot === blockRoot || blocks.has(link.parentRoot)) blocks.set(root, link);
  }
  return blocks;
}

async function deleteIndices(db: BeaconDb): Promise<void> {
  const finalized = await Array.fromAsync(db.finalizedBlocks.range({}));
  await inBatches(db, finalized, (batch, { slot }) => batch.finalizedBlocks.delete(slot));
  const hot = await Array.fromAsync(db.hotBlocks.entries());
  await inBatches(db, hot, (batch, { slot, root }) => batch.hotBlocks.delete(slot, root));
}

/** Deletes the sidecars of all blocks except the given ones. */
async function repairSidecars(db: BeaconDb, slots: ReadonlyMap<RootHex, Slot>, dropped: string[]): Promise<void> {
  const blocks = await Array.fromAsync(db.data.blocks());
  const obsoleteBlocks = blocks.filter(({ slot, root }) => slots.get(root) !== slot);
  await inBatches(db, obsoleteBlocks, (batch, block) => batch.data.delete(block, []));
  const remaining: SlotAndRoot[] = [];
  const obsolete: { root: RootHex; index: number }[] = [];
  for await (const id of db.data.sidecars()) {
    const { root } = id;
    const slot = slots.get(root);
    const sidecar = await attempt(
      () => storedSidecar(db, id),
      (problem) => dropped.push(problem),
    );
    if (!sidecar || slot === undefined) obsolete.push(id);
    else if (remaining.at(-1)?.root !== root) remaining.push({ slot, root });
  }
  await inBatches(db, remaining, (batch, block) => batch.data.putBlock(block));
  await inBatches(db, obsolete, (batch, { root, index }) => batch.data.deleteSidecar(root, index));
}

/** Deletes damaged payloads, and those of all blocks except the given ones. */
async function repairPayloads(db: BeaconDb, slots: ReadonlyMap<RootHex, Slot>, dropped: string[]): Promise<void> {
  const obsoleteRoots: RootHex[] = [];
  for await (const root of db.payloads.roots()) {
    const envelope = await attempt(
      () => storedEnvelope(db, root),
      (problem) => dropped.push(problem),
    );
    if (!envelope || !slots.has(root)) obsoleteRoots.push(root);
  }
  await inBatches(db, obsoleteRoots, (batch, root) => batch.payloads.delete(root));
}

/** Converts patches to deleted bases into plain states, then deletes all states except the remaining ones. */
async function deleteStatesBut(db: BeaconDb, remaining: readonly StatePosition[]): Promise<void> {
  const snapshots = await Array.fromAsync(db.snapshots.entries());
  for (const snapshot of snapshots) {
    const { slot, blockRoot, packing } = snapshot;
    if (!packing?.base || !includes(remaining, snapshot) || includes(remaining, packing.base)) continue;
    const bytes = await db.snapshots.get(slot, blockRoot);
    if (!bytes) continue;
    const batch = db.batch();
    batch.snapshots.delete(snapshot);
    batch.snapshots.put(slot, blockRoot, bytes);
    await batch.write();
  }
  const obsoleteSnapshots = snapshots.filter((snapshot) => !includes(remaining, snapshot));
  await inBatches(db, obsoleteSnapshots, (batch, snapshot) => batch.snapshots.delete(snapshot));
}

const includes = (positions: readonly StatePosition[], { slot, blockRoot }: StatePosition) =>
  positions.some((position) => position.slot === slot && position.blockRoot === blockRoot);

const BATCH_ENTRIES = 1000;

async function inBatches<T>(db: BeaconDb, items: Iterable<T>, write: (batch: BeaconDbBatch, item: T) => void) {
  const all = [...items];
  for (let from = 0; from < all.length; from += BATCH_ENTRIES) {
    const batch = db.batch();
    for (const item of all.slice(from, from + BATCH_ENTRIES)) write(batch, item);
    await batch.write();
  }
}
