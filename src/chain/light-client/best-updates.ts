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
import type { BlockStore } from "../blocks/block-store.ts";
import { isSignedInSamePeriod, summaryOf, withNextSyncCommittee } from "./light-client-data.ts";

/** More than the periods for which blocks have to be served (p2p interface, MIN_EPOCHS_FOR_BLOCK_REQUESTS). */
const PERIODS_KEPT = 130;

interface Best {
  period: SyncPeriod;
  summary: LightClientUpdateSummary;
  blockRoot: RootHex;
  /** Whether the update can no longer lose its block, so that nobody has to look for it. */
  isFinal?: boolean;
}

interface BestUpdatesParts {
  config: BeaconConfig;
  db: BeaconDb;
  blocks: BlockStore;
}

/**
 * The best update of each sync committee period, in the database: with one of each, a client follows the committees from
 * period to period. An update whose block was abandoned counts as none and gives way to the next one that is offered.
 */
export class BestUpdates {
  readonly #parts: BestUpdatesParts;
  /** Of the period in which the chain is. */
  #best: Best | undefined;

  constructor(parts: BestUpdatesParts) {
    this.#parts = parts;
  }

  /** Keeps the update if it is better than what there is of its period. */
  async offer(
    update: LightClientFinalityUpdate,
    blockRoot: RootHex,
    attestedState: CachedBeaconStateAllForks,
  ): Promise<void> {
    if (!isSignedInSamePeriod(update)) return;
    const { slot } = update.attestedHeader.beacon;
    const period = computeSyncPeriodAtSlot(slot);
    const summary = summaryOf(update);
    const best = this.#best?.period === period ? this.#best : await this.#stored(period);
    if (best && !isBetterUpdate(summary, best.summary) && (await this.#stands(best))) {
      this.#best = best;
      return;
    }
    const bytes = this.#typeAt(slot).serialize(withNextSyncCommittee(update, attestedState));
    await this.#parts.db.lightClient.put(period, { attestedSlot: slot, blockRoot, bytes }, period - PERIODS_KEPT);
    this.#best = { period, summary, blockRoot };
  }

  /** Of the periods from `start` to before `end`: from the first one on that has an update, to the first that has none. */
  async range(start: SyncPeriod, end: SyncPeriod, limit: number): Promise<LightClientUpdate[]> {
    const updates: LightClientUpdate[] = [];
    const first = await this.#parts.db.lightClient.firstPeriodFrom(start);
    if (first === null) return updates;
    for (let period = first; period < end && updates.length < limit; period++) {
      const update = await this.#get(period);
      if (update) updates.push(update);
      else if (updates.length > 0) break;
    }
    return updates;
  }

  async #get(period: SyncPeriod): Promise<LightClientUpdate | undefined> {
    const stored = await this.#parts.db.lightClient.get(period);
    if (!stored) return undefined;
    const update = this.#typeAt(stored.attestedSlot).deserialize(stored.bytes);
    return (await this.#isCanonical(stored.blockRoot, update.signatureSlot)) ? update : undefined;
  }

  async #stored(period: SyncPeriod): Promise<Best | undefined> {
    const stored = await this.#parts.db.lightClient.get(period);
    if (!stored) return undefined;
    const update = this.#typeAt(stored.attestedSlot).deserialize(stored.bytes);
    return { period, summary: toLightClientUpdateSummary(update), blockRoot: stored.blockRoot };
  }

  async #stands(best: Best): Promise<boolean> {
    if (best.isFinal) return true;
    const position = await this.#parts.blocks.positionOf(best.blockRoot);
    best.isFinal = position?.finalized ?? false;
    return position?.canonical ?? false;
  }

  #isCanonical(root: RootHex, slot: Slot): Promise<boolean> {
    return this.#parts.blocks.isCanonical(root, slot);
  }

  #typeAt(slot: Slot): Type<LightClientUpdate> {
    return this.#parts.config.getPostAltairForkTypes(slot).LightClientUpdate as Type<LightClientUpdate>;
  }
}
