import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { parentRootOf, serializeSignedBlock } from "../blocks/block-encoding.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import { firstUnsigned } from "../blocks/proposer-signatures.ts";
import type { Clock } from "../clock/clock.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { DistantGenesis } from "../distant-genesis.ts";
import { BlockRejection, blaming } from "../import/block-rejection.ts";
import { type ArrivedBlock, linkSegment } from "../import/segment.ts";
import type { Revision } from "../revision.ts";
import { DataHistory } from "./data-history.ts";

/** What the history lacks next: the block with that root, which is of a slot before the given one. */
export interface HistoryEnd {
  root: RootHex;
  before: Slot;
}

interface HistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  blocks: BlockStore;
  data: DataAvailability;
  bls: BlsVerifier;
  revision: Revision;
  /** Of a chain that was started from a later state. */
  genesis: DistantGenesis | undefined;
}

/** Where the blocks of a database end; null when they go back to genesis. */
export async function readHistoryEnd(db: BeaconDb): Promise<HistoryEnd | null> {
  const oldest = await db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
  if (!oldest || oldest.slot === GENESIS_SLOT) return null;
  const bytes = await db.blocks.get(oldest.root);
  // A chain may have been started from a state alone; then its oldest block is not held.
  return bytes ? { root: parentRootOf(bytes), before: oldest.slot } : { root: oldest.root, before: oldest.slot + 1 };
}

/**
 * The blocks before those that the node was started from. They come from the newest to the oldest, and each is known by the child
 * that is held already, so that they need not be executed; states of that time there are none.
 */
export class History {
  readonly #parts: HistoryParts;
  #end: HistoryEnd | null;
  readonly data: DataHistory;

  constructor(parts: HistoryParts, end: HistoryEnd | null) {
    this.#parts = parts;
    this.#end = end;
    this.data = new DataHistory({ ...parts, earliestBlockSlot: () => this.earliestBlockSlot });
  }

  /** Null when there is nothing before what is held. */
  get end(): HistoryEnd | null {
    return this.#end;
  }

  /** From this slot on all blocks are held. */
  get earliestBlockSlot(): Slot {
    return this.#end?.before ?? GENESIS_SLOT;
  }

  /** From this slot on all blocks are held, and all of their data that has to be served. */
  get earliestAvailableSlot(): Slot {
    return Math.max(this.earliestBlockSlot, this.data.earliestSlot);
  }

  /**
   * Takes blocks, in ascending order, that lead to the oldest one held; all of them in one write. Their proposers' signatures are
   * verified, as they are no part of what is hashed (phase0/p2p-interface.md, BeaconBlocksByRange).
   *
   * @throws a `BlockRejection` when they are not those that come before, or are not signed by their proposers
   */
  async prepend(blocks: readonly SignedBeaconBlock[]): Promise<void> {
    const { config, db, revision } = this.#parts;
    const linked = await linkSegment(config, blocks, 0);
    const [first, last] = [linked[0], linked.at(-1)];
    if (!first || !last) return;
    this.#requireEnd(last);
    await this.#requireSignatures(linked);
    const batch = db.batch();
    for (const { signed, root } of linked) {
      batch.blocks.put(root, serializeSignedBlock(config, signed));
      batch.finalizedBlocks.put(signed.message.slot, root);
    }
    await batch.write();
    this.#end = { root: toRootHex(first.signed.message.parentRoot), before: first.signed.message.slot };
    revision.raise();
  }

  /**
   * Whether only the genesis block is before what is held, which no node sends because nobody signed it. It is taken into the
   * history where it is known.
   *
   * @throws when the chain turns out to have begun with another block than the known one
   */
  async reachesGenesis(): Promise<boolean> {
    const { config, db, genesis, revision } = this.#parts;
    if (this.#end === null) return true;
    const { root, before } = this.#end;
    const isAfterGenesis = before === GENESIS_SLOT + 1;
    const facts = await genesis?.facts();
    if (facts?.root !== root) {
      if (!facts || !isAfterGenesis) return isAfterGenesis;
      throw new Error(`The first block of the chain builds on ${root}, and the genesis block is ${facts.root}.`);
    }
    const batch = db.batch();
    batch.blocks.put(facts.root, serializeSignedBlock(config, facts.block));
    batch.finalizedBlocks.put(GENESIS_SLOT, facts.root);
    await batch.write();
    this.#end = null;
    revision.raise();
    return true;
  }

  #requireEnd({ signed, root }: ArrivedBlock): void {
    const { slot } = signed.message;
    if (this.#end !== null && root === this.#end.root && slot < this.#end.before && slot > GENESIS_SLOT) return;
    const wanted = this.#end === null ? "none is wanted" : `${this.#end.root} is the one before the oldest held`;
    const message = `The block ${root} of slot ${slot} is not the one that comes next: ${wanted}.`;
    throw blaming(new BlockRejection("not-connected", message), { slot, root });
  }

  async #requireSignatures(blocks: readonly ArrivedBlock[]): Promise<void> {
    const wrong = await firstUnsigned(blocks, this.#parts);
    if (!wrong) return;
    const { slot, proposerIndex } = wrong.signed.message;
    const message = `The block of slot ${slot} is not signed by validator ${proposerIndex}.`;
    throw blaming(new BlockRejection("invalid-signature", message), { slot, root: wrong.root });
  }
}
