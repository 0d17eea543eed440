import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { commitmentsOf } from "../../data/commitments.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { HeldData } from "../../db/meta-repository.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { CommittingBlock, DataAvailability } from "../data/data-availability.ts";
import { type SidecarsOfBlock, verifySidecars } from "../data/verify-sidecars.ts";
import { firstSlotWithData } from "./data-window.ts";

/** So many blocks are looked at, and so many of those that lack something are fetched for, at a time. */
const LOOKED_AT = 64;
const FETCHED_FOR = 8;

/** A block and the indices of the sidecars that are not held of it, though they are to be. */
export interface LackingBlock extends CommittingBlock {
  missing: readonly number[];
}

/** Blocks next to each other on the chain, all of them with columns or all with blob sidecars. */
export interface DataStretch {
  hasColumns: boolean;
  /** In descending order of slots; only those that lack something. */
  lacking: readonly LackingBlock[];
  /** From here on all data is held once these have theirs. */
  from: Slot;
  before: Slot;
  /** Down to here data is wanted, and blocks are held. */
  bottom: Slot;
  /** Down to here data is wanted, whether or not blocks are held. */
  windowStart: Slot;
}

interface DataHistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Pick<Clock, "currentSlot" | "currentEpoch">;
  blocks: BlockStore;
  data: DataAvailability;
  /** From which slot on blocks are held. */
  earliestBlockSlot(): Slot;
}

/**
 * The data of blocks that came without it: those from before the state that the node was started from, and those that were imported
 * when the node had fewer columns to keep. It is looked for from the newest to the oldest, on the finalized chain only.
 */
export class DataHistory {
  readonly #parts: DataHistoryParts;
  #held: HeldData;
  /** Below what is noted as held, nothing is missing down to here: blocks may have no data, or more than had to be kept. */
  #completeFrom: Slot = GENESIS_SLOT;
  /** The newest look at what is missing; one that was begun before has nothing more to say. */
  #look: object | undefined;

  constructor(parts: DataHistoryParts) {
    this.#parts = parts;
    this.#held = { from: GENESIS_SLOT, groups: this.#groupsOfImport };
    parts.data.custody.onRaised((groups) => {
      if (groups <= this.#held.groups) return;
      this.#raise(groups);
      // A write that fails brings the node to a stop.
      void this.#note().catch(() => {});
    });
  }

  /** Takes up what an earlier run has noted, or begins behind the block that the chain was started from. */
  async open(): Promise<void> {
    const noted = await this.#parts.db.meta.getHeldData();
    this.#takeUp(noted ?? { from: await this.#afterAnchor(), groups: this.#groupsOfImport });
    if (noted?.groups !== this.#held.groups) await this.#note();
  }

  capture(): HeldData {
    return this.#held;
  }

  /** The database holds the data of then already. */
  restore(held: HeldData): void {
    this.#takeUp(held);
  }

  /** Import takes no block without its data, but the one that a chain was started from has none. */
  async #afterAnchor(): Promise<Slot> {
    const oldest = await this.#parts.db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
    return oldest && oldest.slot > GENESIS_SLOT ? oldest.slot + 1 : GENESIS_SLOT;
  }

  /** From this slot on all data is held that has to be served (fulu/p2p-interface.md, Status v2). */
  get earliestSlot(): Slot {
    const from = Math.min(this.#held.from, this.#completeFrom);
    return from <= this.#firstSlotWithData ? GENESIS_SLOT : from;
  }

  /** What is to be looked at next; null when that is nothing, or has to wait for finality or for older blocks. */
  async next(): Promise<DataStretch | null> {
    const { db } = this.#parts;
    if (this.#isComplete) return null;
    const before = this.#held.from;
    const bottom = this.#bottom;
    const windowStart = this.#firstSlotWithData;
    const newest = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
    if (before <= bottom || !newest || newest.slot < before - 1) return null;
    const lacking: LackingBlock[] = [];
    let hasColumns = false;
    let from = before;
    let lookedAt = 0;
    for await (const { slot, root } of db.finalizedBlocks.range({ from: bottom, to: before - 1, reverse: true })) {
      const block = await this.#lackingBlock(root);
      if (block) {
        const kind = this.#parts.data.hasColumns(slot);
        if (lacking.length > 0 && kind !== hasColumns)
          return { hasColumns, lacking, from, before, bottom, windowStart };
        hasColumns = kind;
        lacking.push(block);
      }
      from = slot;
      if (++lookedAt === LOOKED_AT || lacking.length === FETCHED_FOR)
        return { hasColumns, lacking, from, before, bottom, windowStart };
    }
    return { hasColumns, lacking, from: bottom, before, bottom, windowStart };
  }

  /**
   * Stores what was fetched for blocks of a stretch.
   *
   * @throws a `WrongSidecarError` when something is not what the blocks commit to
   */
  async store(entries: readonly SidecarsOfBlock[]): Promise<void> {
    const { config, db, data } = this.#parts;
    await verifySidecars(config, data.kzg, entries);
    const batch = db.batch();
    for (const { block, sidecars } of entries) {
      await data.store(batch, { slot: block.signed.message.slot, root: block.root }, sidecars);
    }
    await batch.write();
  }

  /** The stretch has all its data now. */
  async settle({ from, before }: DataStretch): Promise<void> {
    // More columns may have to be kept by now; then all is looked at again.
    if (this.#held.from !== before) return;
    this.#held = { from, groups: this.#parts.data.custody.groupCount };
    await this.#note();
  }

  /** Down to here data is wanted, and blocks are held. */
  get #bottom(): Slot {
    return Math.max(this.#firstSlotWithData, this.#parts.earliestBlockSlot());
  }

  get #firstSlotWithData(): Slot {
    return firstSlotWithData(this.#parts.config, this.#parts.clock.currentEpoch);
  }

  get #isComplete(): boolean {
    return this.#held.from <= this.#firstSlotWithData;
  }

  async #lackingBlock(root: string): Promise<LackingBlock | null> {
    const { blocks, db } = this.#parts;
    const signed = await blocks.signedByRoot(root);
    const wanted = signed ? this.#wanted(signed) : [];
    if (!signed || wanted.length === 0) return null;
    const held = new Set(await db.data.indices(root));
    const missing = wanted.filter((index) => !held.has(index));
    return missing.length === 0 ? null : { signed, root, missing };
  }

  #wanted(signed: SignedBeaconBlock): readonly number[] {
    const { data } = this.#parts;
    const { length } = commitmentsOf(signed);
    if (length === 0) return [];
    return data.hasColumns(signed.message.slot) ? data.custody.columns : Array.from({ length }, (_, index) => index);
  }

  /** No block is imported without the columns that are sampled, and all that came are stored. */
  get #groupsOfImport(): number {
    const { config, data } = this.#parts;
    return Math.max(data.custody.groupCount, config.SAMPLES_PER_SLOT);
  }

  /** What was held when so many groups were kept; there may be more to keep by now. */
  #takeUp({ from, groups }: HeldData): void {
    const { groupCount } = this.#parts.data.custody;
    this.#held = { from, groups: Math.min(groups, this.#groupsOfImport) };
    this.#completeFrom = from;
    // That of no group all is held says that nobody has looked yet.
    if (groups === 0) this.#lookAgain(groupCount);
    else if (groups < groupCount) this.#raise(groupCount);
    else if (!this.#isComplete) void this.#lookDown();
  }

  /** Before fulu there is nothing that depends on custody. */
  #raise(groups: number): void {
    const { clock, data } = this.#parts;
    if (data.hasColumns(clock.currentSlot)) this.#lookAgain(groups);
    else this.#held = { ...this.#held, groups };
  }

  /**
   * Blocks of the current slot may be on their way onto the chain with the columns that were to be kept before. Until it is known
   * that no more is missing, peers are told the slot of the change (fulu/validator.md, Validator custody), or that of the head.
   */
  #lookAgain(groups: number): void {
    const { currentSlot } = this.#parts.clock;
    this.#held = { from: currentSlot + 1, groups };
    this.#completeFrom = currentSlot;
    void this.#lookDown({ withHead: true });
  }

  /** Goes down the canonical chain from what is noted as held to the first block that lacks something. */
  async #lookDown({ withHead = false } = {}): Promise<void> {
    const { blocks } = this.#parts;
    const bottom = this.#bottom;
    const look = {};
    this.#look = look;
    try {
      const newest = await blocks.rootAtOrBefore(this.#held.from - 1);
      let root = newest;
      while (root !== null) {
        const signed: SignedBeaconBlock | null = await blocks.signedByRoot(root);
        if (!signed) return;
        const { slot, parentRoot } = signed.message;
        const isLacking = slot >= bottom && (await this.#lackingBlock(root)) !== null;
        if (this.#look !== look) return;
        if (!isLacking || (withHead && root === newest)) this.#completeFrom = Math.max(slot, bottom);
        if (isLacking || slot <= bottom) return;
        root = toRootHex(parentRoot);
      }
    } catch {
      // What cannot be read is not told to be there; whoever needs it will find out why.
    }
  }

  async #note(): Promise<void> {
    const batch = this.#parts.db.batch();
    batch.meta.putHeldData(this.#held);
    await batch.write();
  }
}
