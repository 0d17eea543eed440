import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { commitmentsOf } from "../../data/commitments.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { HeldData } from "../../db/repositories/meta-repository.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { BlockWithCommitments, DataAvailability } from "../data/data-availability.ts";
import { type SidecarsOfBlock, verifySidecars } from "../data/verify-sidecars.ts";
import { hasEnvelope } from "../payloads/new-payload.ts";
import { firstSlotWithData } from "./data-window.ts";

/** Maximum number of blocks to check, and of incomplete blocks to return, per call. */
const MAX_CHECKED = 64;
const MAX_INCOMPLETE = 8;

/** A block and the indices of its missing sidecars. */
export interface IncompleteBlock extends BlockWithCommitments {
  missing: readonly number[];
}

/** Consecutive blocks, all with columns or all with blob sidecars. */
export interface DataRange {
  hasColumns: boolean;
  /** Incomplete blocks in descending slot order. */
  incomplete: readonly IncompleteBlock[];
  /** First slot from which all data is stored once these blocks are complete. */
  from: Slot;
  before: Slot;
  /** Lowest slot that needs data and whose block is stored. */
  bottom: Slot;
  /** Lowest slot that needs data, whether or not its block is stored. */
  windowStart: Slot;
}

interface DataHistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Pick<Clock, "currentSlot" | "currentEpoch">;
  blocks: BlockStore;
  data: DataAvailability;
  /** First slot with stored blocks. */
  earliestBlockSlot(): Slot;
}

/**
 * Backfills blobs and data columns for blocks before the anchor and for blocks imported with a smaller custody group
 * count. Works from newest to oldest, and only on the finalized chain.
 */
export class DataHistory {
  readonly #parts: DataHistoryParts;
  #range: HeldData;
  /**
   * Data is also complete from this slot up to `#range.from`: blocks may have no data, or more data than required was
   * stored.
   */
  #completeFrom: Slot = GENESIS_SLOT;
  /** Identifies the latest scan; older scans discard their results. */
  #scan: object | undefined;

  constructor(parts: DataHistoryParts) {
    this.#parts = parts;
    this.#range = { from: GENESIS_SLOT, groups: this.#groupsOfImport };
    parts.data.custody.onRaised((groups) => {
      if (groups <= this.#range.groups) return;
      this.#raise(groups);
      // A failed write shuts the node down; that is handled elsewhere.
      void this.#persist().catch(() => {});
    });
  }

  /** Resumes from the stored range, or starts after the anchor block. */
  async open(): Promise<void> {
    const storedRange = await this.#parts.db.meta.getHeldData();
    this.#adopt(storedRange ?? { from: await this.#afterAnchor(), groups: this.#groupsOfImport });
    if (storedRange?.groups !== this.#range.groups) await this.#persist();
  }

  capture(): HeldData {
    return this.#range;
  }

  /** Restores the range after the database has been reverted. */
  restore(range: HeldData): void {
    this.#adopt(range);
  }

  /** Returns the slot after the anchor block, the only block without data: import requires data for all others. */
  async #afterAnchor(): Promise<Slot> {
    const oldest = await this.#parts.db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
    return oldest && oldest.slot > GENESIS_SLOT ? oldest.slot + 1 : GENESIS_SLOT;
  }

  /** Returns the first slot from which all data to be served is stored (fulu/p2p-interface.md, Status v2). */
  get earliestSlot(): Slot {
    const from = Math.min(this.#range.from, this.#completeFrom);
    return from <= this.#firstSlotWithData ? GENESIS_SLOT : from;
  }

  /**
   * Returns the next range to backfill; null if there is none, or if the backfill must wait for finality or for older
   * blocks.
   */
  async next(): Promise<DataRange | null> {
    const { db } = this.#parts;
    if (this.#isComplete) return null;
    const before = this.#range.from;
    const bottom = this.#bottom;
    const windowStart = this.#firstSlotWithData;
    const newest = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
    if (before <= bottom || !newest || newest.slot < before - 1) return null;
    const incomplete: IncompleteBlock[] = [];
    let hasColumns = false;
    let from = before;
    let checked = 0;
    for await (const { slot, root } of db.finalizedBlocks.range({ from: bottom, to: before - 1, reverse: true })) {
      const block = await this.#incompleteBlock(root);
      if (block) {
        const kind = this.#parts.data.hasColumns(slot);
        if (incomplete.length > 0 && kind !== hasColumns)
          return { hasColumns, incomplete, from, before, bottom, windowStart };
        hasColumns = kind;
        incomplete.push(block);
      }
      from = slot;
      if (++checked === MAX_CHECKED || incomplete.length === MAX_INCOMPLETE)
        return { hasColumns, incomplete, from, before, bottom, windowStart };
    }
    return { hasColumns, incomplete, from: bottom, before, bottom, windowStart };
  }

  /**
   * Verifies and stores fetched sidecars.
   *
   * @throws a `WrongSidecarError` if a sidecar does not match its block
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

  /** Marks a range as complete. */
  async settle({ from, before }: DataRange): Promise<void> {
    // The scan is restarted if the custody group count has grown.
    if (this.#range.from !== before) return;
    this.#range = { from, groups: this.#parts.data.custody.groupCount };
    await this.#persist();
  }

  /** Lowest slot that needs data and whose block is stored. */
  get #bottom(): Slot {
    return Math.max(this.#firstSlotWithData, this.#parts.earliestBlockSlot());
  }

  get #firstSlotWithData(): Slot {
    return firstSlotWithData(this.#parts.config, this.#parts.clock.currentEpoch);
  }

  get #isComplete(): boolean {
    return this.#range.from <= this.#firstSlotWithData;
  }

  async #incompleteBlock(root: string): Promise<IncompleteBlock | null> {
    const { blocks, config, db } = this.#parts;
    const signed = await blocks.signedByRoot(root);
    const required = signed ? this.#requiredIndices(signed) : [];
    if (!signed || required.length === 0) return null;
    // Since gloas, a payload requires the data, and a block can do without its payload.
    if (hasEnvelope(config, signed.message.slot) && !(await db.payloads.has(root))) return null;
    const stored = new Set(await db.data.indices(root));
    const missing = required.filter((index) => !stored.has(index));
    return missing.length === 0 ? null : { signed, root, missing };
  }

  #requiredIndices(signed: SignedBeaconBlock): readonly number[] {
    const { data } = this.#parts;
    const { length } = commitmentsOf(signed);
    if (length === 0) return [];
    return data.hasColumns(signed.message.slot) ? data.custody.columns : Array.from({ length }, (_, index) => index);
  }

  /**
   * Number of custody groups stored by block import, which requires all sampled columns and stores every column it
   * receives.
   */
  get #groupsOfImport(): number {
    const { config, data } = this.#parts;
    return Math.max(data.custody.groupCount, config.SAMPLES_PER_SLOT);
  }

  /** Applies a stored range. The custody group count may have grown since it was stored. */
  #adopt({ from, groups }: HeldData): void {
    const { groupCount } = this.#parts.data.custody;
    this.#range = { from, groups: Math.min(groups, this.#groupsOfImport) };
    this.#completeFrom = from;
    // Zero groups means the data was never checked.
    if (groups === 0) this.#restartScan(groupCount);
    else if (groups < groupCount) this.#raise(groupCount);
    else if (!this.#isComplete) void this.#scanDown();
  }

  /** Handles a larger group count, which has no effect before Fulu. */
  #raise(groups: number): void {
    const { clock, data } = this.#parts;
    if (data.hasColumns(clock.currentSlot)) this.#restartScan(groups);
    else this.#range = { ...this.#range, groups };
  }

  /**
   * Restarts the backfill from the slot after the current one, because blocks of the current slot may still be imported
   * with the previous columns. Until the scan has finished, the node advertises the slot of the change to peers
   * (fulu/validator.md, Validator custody).
   */
  #restartScan(groups: number): void {
    const { currentSlot } = this.#parts.clock;
    this.#range = { from: currentSlot + 1, groups };
    this.#completeFrom = currentSlot;
    void this.#scanDown({ withHead: true });
  }

  /** Walks the canonical chain down from the stored range to the first incomplete block. */
  async #scanDown({ withHead = false } = {}): Promise<void> {
    const { blocks } = this.#parts;
    const bottom = this.#bottom;
    const scan = {};
    this.#scan = scan;
    try {
      const newest = await blocks.rootAtOrBefore(this.#range.from - 1);
      let root = newest;
      while (root !== null) {
        const signed: SignedBeaconBlock | null = await blocks.signedByRoot(root);
        if (!signed) return;
        const { slot, parentRoot } = signed.message;
        const isIncomplete = slot >= bottom && (await this.#incompleteBlock(root)) !== null;
        if (this.#scan !== scan) return;
        if (!isIncomplete || (withHead && root === newest)) this.#completeFrom = Math.max(slot, bottom);
        if (isIncomplete || slot <= bottom) return;
        root = toRootHex(parentRoot);
      }
    } catch {
      // Unreadable data counts as unavailable. Requests for that data report the error.
    }
  }

  async #persist(): Promise<void> {
    const batch = this.#parts.db.batch();
    batch.meta.putHeldData(this.#range);
    await batch.write();
  }
}
