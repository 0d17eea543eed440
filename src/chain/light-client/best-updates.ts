import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type CachedBeaconStateAllForks, computeSyncPeriodAtSlot } from "@lodestar/state-transition";
import {
  isBetterUpdate,
  type LightClientUpdateSummary,
  toLightClientUpdateSummary,
} from "@lodestar/state-transition/light-client";
import type { LightClientFinalityUpdate, LightClientUpdate, RootHex, Slot, SyncPeriod } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { summaryOf, withNextSyncCommittee } from "./light-client-data.ts";

/** Exceeds the block retention period (p2p-interface.md, MIN_EPOCHS_FOR_BLOCK_REQUESTS). */
const PERIODS_KEPT = 130;

/** A finality update and its attested state. */
export interface DerivedUpdate {
  update: LightClientFinalityUpdate;
  attestedState: CachedBeaconStateAllForks;
}

/** Update for an unfinalized block that is better than all earlier ones on its branch. */
export interface Candidate extends SlotAndRoot {
  summary: LightClientUpdateSummary;
  /** Created on demand if the state was not cached. */
  update?: LightClientUpdate;
}

interface BestUpdatesParts {
  config: BeaconConfig;
  db: BeaconDb;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  /** Returns undefined if the block has no update or its state is unavailable. */
  derive(root: RootHex): Promise<DerivedUpdate | undefined>;
}

/**
 * Best update for each sync committee period, which light clients need to follow the committees. The database stores
 * the best finalized updates. Candidates for unfinalized blocks are kept per branch, so that a reorg needs no search.
 * They are derived again after a restart.
 */
export class BestUpdates {
  readonly #parts: BestUpdatesParts;
  readonly #candidates = new Map<RootHex, Candidate>();
  #settled: RootHex | undefined;
  /** Most recently read or written entry. Needed for every block. */
  #final: { period: SyncPeriod; blockRoot: RootHex; update: LightClientUpdate } | undefined;

  constructor(parts: BestUpdatesParts) {
    this.#parts = parts;
  }

  capture(): Candidate[] {
    return [...this.#candidates.values()];
  }

  restore(candidates: readonly Candidate[]): void {
    this.#candidates.clear();
    for (const candidate of candidates) this.#candidates.set(candidate.root, candidate);
    this.#settled = undefined;
    this.#final = undefined;
  }

  /** Returns true if the update for a block is better than earlier ones. */
  async isBetter(block: SlotAndRoot, summary: LightClientUpdateSummary): Promise<boolean> {
    if (!summary.isSyncCommitteeUpdate) return false;
    const { forkChoice } = this.#parts;
    const period = periodOf(block);
    for (const { root, slot, summary: other } of this.#candidates.values()) {
      if (root === block.root || periodOf({ slot }) !== period || !forkChoice.isDescendant(root, block.root)) continue;
      if (!isBetterUpdate(summary, other)) return false;
    }
    const storedUpdate = await this.#stored(period);
    return !storedUpdate || isBetterUpdate(summary, toLightClientUpdateSummary(storedUpdate));
  }

  /** Records the update for a block if it is better than earlier ones. */
  async offer(block: SlotAndRoot, { update, attestedState }: DerivedUpdate): Promise<void> {
    if (!(await this.isBetter(block, summaryOf(update)))) return;
    const complete = withNextSyncCommittee(update, attestedState);
    this.#candidates.set(block.root, { ...block, summary: summaryOf(update), update: complete });
  }

  /** Like `offer`, but for an update that has not been created yet. */
  async offerSummary(block: SlotAndRoot, summary: LightClientUpdateSummary): Promise<void> {
    if (await this.isBetter(block, summary)) this.#candidates.set(block.root, { ...block, summary });
  }

  /** Stores finalized candidates and drops those that can no longer be finalized. */
  async settle(): Promise<void> {
    const { forkChoice, blocks } = this.#parts;
    const { root: finalizedRoot } = forkChoice.finalized;
    const finalizedSlot = forkChoice.get(finalizedRoot)?.slot;
    if (finalizedRoot === this.#settled || finalizedSlot === undefined) return;
    for (const candidate of this.#candidates.values()) {
      const { slot, root } = candidate;
      if (slot <= finalizedSlot) {
        if (await blocks.isCanonical(root, slot)) await this.#store(candidate);
      } else if (forkChoice.has(root)) continue;
      this.#candidates.delete(root);
    }
    this.#settled = finalizedRoot;
  }

  /**
   * Returns the updates for the periods [start, end) up to the first gap, starting with the first period that has an
   * update. `end` may be far in the future.
   */
  async range(start: SyncPeriod, end: SyncPeriod, limit: number): Promise<LightClientUpdate[]> {
    const updates: LightClientUpdate[] = [];
    const { db, forkChoice } = this.#parts;
    const storedPeriod = await db.lightClient.firstPeriodFrom(start);
    const recent = Array.from(this.#candidates.values(), periodOf).filter((period) => period >= start);
    const first = Math.min(storedPeriod ?? Number.POSITIVE_INFINITY, ...recent);
    // Stored updates are finalized, so none is newer than the finalized block.
    const newest = Math.max(periodOf(forkChoice.get(forkChoice.finalized.root) ?? { slot: 0 }), ...recent);
    for (let period = first; period < end && period <= newest && updates.length < limit; period++) {
      const update = await this.#get(period);
      if (update) updates.push(update);
      else if (updates.length > 0) break;
    }
    return updates;
  }

  async #get(period: SyncPeriod): Promise<LightClientUpdate | undefined> {
    let best: Candidate | undefined;
    for (const candidate of [...this.#candidates.values()]) {
      if (periodOf(candidate) !== period || (best && !isBetterUpdate(candidate.summary, best.summary))) continue;
      if (await this.#parts.blocks.isCanonical(candidate.root, candidate.slot)) best = candidate;
    }
    return (best && (await this.#updateOf(best))) ?? this.#stored(period);
  }

  /** Returns a stored update. Databases written by older versions may contain updates for orphaned blocks. */
  async #stored(period: SyncPeriod): Promise<LightClientUpdate | undefined> {
    const { db, blocks } = this.#parts;
    if (this.#final?.period !== period) {
      const entry = await db.lightClient.get(period);
      if (!entry) return undefined;
      const update = this.#typeAt(entry.attestedSlot).deserialize(entry.bytes);
      this.#final = { period, blockRoot: entry.blockRoot, update };
    }
    const { blockRoot, update } = this.#final;
    return (await blocks.isCanonical(blockRoot, update.signatureSlot)) ? update : undefined;
  }

  async #store(candidate: Candidate): Promise<void> {
    const period = periodOf(candidate);
    const storedUpdate = await this.#stored(period);
    if (storedUpdate && !isBetterUpdate(candidate.summary, toLightClientUpdateSummary(storedUpdate))) return;
    const update = await this.#updateOf(candidate);
    if (!update) return;
    const attestedSlot = update.attestedHeader.beacon.slot;
    const bytes = this.#typeAt(attestedSlot).serialize(update);
    const entry = { attestedSlot, blockRoot: candidate.root, bytes };
    await this.#parts.db.lightClient.put(period, entry, period - PERIODS_KEPT);
    this.#final = { period, blockRoot: candidate.root, update };
  }

  async #updateOf(candidate: Candidate): Promise<LightClientUpdate | undefined> {
    if (candidate.update) return candidate.update;
    const derived = await this.#parts.derive(candidate.root);
    if (!derived) return undefined;
    candidate.update = withNextSyncCommittee(derived.update, derived.attestedState);
    return candidate.update;
  }

  #typeAt(slot: Slot): Type<LightClientUpdate> {
    return this.#parts.config.getPostAltairForkTypes(slot).LightClientUpdate as Type<LightClientUpdate>;
  }
}

/** Returns the period of a block. An update is used only if it was signed in the period of its attested block. */
const periodOf = ({ slot }: { slot: Slot }): SyncPeriod => computeSyncPeriodAtSlot(slot);
