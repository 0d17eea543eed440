import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  computeEndSlotAtEpoch,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  computeSyncPeriodAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch, RootHex, Slot, SyncPeriod, ValidatorIndex, ValidatorStatus } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { BeaconChain } from "../chain.ts";
import { reviewEpoch, type SyncSeats, type ValidatorReview } from "./epoch-review.ts";
import { MonitoredValidators, type MonitorSelection } from "./monitored-validators.ts";
import { logReview } from "./review-log.ts";
import { addReview, newTally, resetLevels, type Tally } from "./tally.ts";

/** Maximum number of validators with individual metrics, which bounds the number of metric series. */
const MAX_SINGLE_VALIDATORS = 64;

type MonitoredChain = Pick<
  BeaconChain,
  "config" | "clock" | "blocks" | "payloadStore" | "history" | "states" | "forkChoice" | "status" | "head" | "headState"
> & { pools: { seen: Pick<BeaconChain["pools"]["seen"], "attesters"> } };

interface ValidatorMonitorParts {
  chain: MonitoredChain;
  selection: MonitorSelection;
  /** False while a dev chain builds its history, which is not logged per epoch. */
  isWarmedUp(): boolean;
  logger: Logger;
}

/** Baseline for the next review. */
interface LastReview {
  epoch: Epoch;
  /** Slot of the state from which the balances were read. */
  slot: Slot;
  reviews: ReadonlyMap<ValidatorIndex, ValidatorReview>;
}

/**
 * Monitors the performance of selected validators. Reviews an epoch once the following epoch has ended, based on the
 * canonical chain at that time, so that reorgs and late inclusions count. Idle between epochs.
 */
export class ValidatorMonitor {
  readonly #parts: ValidatorMonitorParts;
  readonly #monitored: MonitoredValidators;
  readonly #total = newTally();
  /** Undefined if there are too many validators. */
  readonly #single: Map<ValidatorIndex, Tally> | undefined;
  readonly #stop: () => void;
  #epoch: Epoch;
  /** Validators whose vote arrived as an unaggregated attestation, by epoch. */
  readonly #seen = new Map<Epoch, ReadonlySet<ValidatorIndex>>();
  #syncCommittee: { period: SyncPeriod; seats: SyncSeats } | undefined;
  #last: LastReview | undefined;
  #work: Promise<void> = Promise.resolve();

  /** Starts monitoring. Call `close` to stop. */
  constructor(parts: ValidatorMonitorParts) {
    const { chain, selection, logger } = parts;
    this.#parts = parts;
    this.#monitored = new MonitoredValidators(selection, logger);
    const count = selection.indices.length + selection.pubkeys.length;
    this.#single = count <= MAX_SINGLE_VALIDATORS ? new Map() : undefined;
    this.#epoch = chain.clock.currentEpoch;
    this.#monitored.resolve(chain.headState);
    logger.notice("Monitoring validators", { count, unknown: this.#monitored.unknownCount || undefined });
    this.#stop = chain.clock.onSlot((slot) => this.#onSlot(slot));
  }

  /** Most recently reviewed epoch. */
  get reviewedEpoch(): Epoch | undefined {
    return this.#last?.epoch;
  }

  get total(): Tally {
    return this.#total;
  }

  /** Tallies by validator; empty if there are too many validators. */
  get single(): ReadonlyMap<ValidatorIndex, Tally> {
    return this.#single ?? new Map();
  }

  /** Number of validators by status in the latest review; `unknown` validators are not on the chain. */
  statusCounts(): Map<ValidatorStatus | "unknown", number> {
    const counts = new Map<ValidatorStatus | "unknown", number>([["unknown", this.#monitored.unknownCount]]);
    for (const { status } of this.#last?.reviews.values() ?? []) counts.set(status, (counts.get(status) ?? 0) + 1);
    return counts;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#work;
  }

  #onSlot(slot: Slot): Promise<void> | undefined {
    const epoch = computeEpochAtSlot(slot);
    const isNext = epoch > this.#epoch;
    this.#epoch = epoch;
    // A dev chain may be reverted.
    if (!isNext) return undefined;
    const { chain, isWarmedUp } = this.#parts;
    const { head, headState } = chain;
    this.#monitored.resolve(headState);
    this.#noteSeen(epoch - 1);
    const reviewedEpoch = epoch - 2;
    if (reviewedEpoch < 0 || chain.status.isSyncing || !isWarmedUp()) return undefined;
    // A block of the new epoch may have arrived before its slot.
    const root = chain.forkChoice.ancestorAtSlot(head.root, slot - 1) ?? head.root;
    const cachedState = root === head.root ? headState : undefined;
    this.#work = this.#work.then(() => this.#review(reviewedEpoch, root, cachedState));
    return this.#work;
  }

  /** Copies the validators seen in an epoch, because the cache drops them once the next epoch has ended. */
  #noteSeen(epoch: Epoch): void {
    const { attesters } = this.#parts.chain.pools.seen;
    this.#seen.set(epoch, new Set([...this.#monitored.indices].filter((validator) => attesters.has(epoch, validator))));
    for (const old of this.#seen.keys()) if (old < epoch - 1) this.#seen.delete(old);
  }

  async #review(epoch: Epoch, blockRoot: RootHex, cachedState: CachedBeaconStateAllForks | undefined): Promise<void> {
    const { chain, logger } = this.#parts;
    try {
      // After a checkpoint start, votes may be in blocks that are not stored.
      if (chain.history.earliestBlockSlot > computeStartSlotAtEpoch(epoch)) return;
      const state = await this.#stateOf(epoch + 1, blockRoot, cachedState);
      // If there is no block for two epochs, there is nothing to review.
      if (state === undefined) return;
      const last = this.#last?.epoch === epoch - 1 ? this.#last : undefined;
      const reviews = await reviewEpoch({
        config: chain.config,
        blocks: chain.blocks,
        payloadStore: chain.payloadStore,
        epoch,
        state,
        blockRoot,
        validators: this.#monitored.indices,
        syncSeats: this.#syncSeats(state, epoch),
        balancesSince: last?.slot ?? state.slot,
      });
      this.#count(epoch, reviews, last);
      this.#last = { epoch, slot: state.slot, reviews };
    } catch (error) {
      logger.warn("Failed to review monitored validators", { epoch, error });
    }
  }

  async #stateOf(
    epoch: Epoch,
    blockRoot: RootHex,
    cachedState: CachedBeaconStateAllForks | undefined,
  ): Promise<CachedBeaconStateAllForks | undefined> {
    const { states } = this.#parts.chain;
    const state = cachedState ?? (await states.afterBlock(blockRoot));
    if (state.epochCtx.epoch === epoch) return state;
    const isNear = computeEndSlotAtEpoch(epoch) - state.slot < 2 * SLOTS_PER_EPOCH;
    return isNear ? states.afterBlock(blockRoot, computeEndSlotAtEpoch(epoch)) : undefined;
  }

  /**
   * Returns the sync committee positions in the reviewed epoch. The state is from the following epoch, which may have a
   * different sync committee.
   */
  #syncSeats(state: CachedBeaconStateAllForks, epoch: Epoch): SyncSeats | undefined {
    const previous = this.#syncCommittee;
    const isAltair = state.config.getForkSeq(state.slot) >= ForkSeq.altair;
    this.#syncCommittee = isAltair
      ? {
          period: computeSyncPeriodAtEpoch(state.epochCtx.epoch),
          seats: monitoredSeats(state as CachedBeaconStateAltair, this.#monitored.indices),
        }
      : undefined;
    const period = computeSyncPeriodAtEpoch(epoch);
    return [this.#syncCommittee, previous].find((committee) => committee?.period === period)?.seats;
  }

  #count(epoch: Epoch, reviews: ReadonlyMap<ValidatorIndex, ValidatorReview>, last: LastReview | undefined): void {
    const ofEpoch = newTally();
    const seenValidators = this.#seen.get(epoch);
    resetLevels(this.#total);
    for (const [validator, review] of reviews) {
      const previousReview = last?.reviews.get(validator);
      const reward = previousReview && review.balance + review.withdrawn - previousReview.balance;
      const reviewed = { review, isSeen: seenValidators?.has(validator) ?? false, reward };
      addReview(ofEpoch, reviewed);
      addReview(this.#total, reviewed);
      if (this.#single) {
        const single = this.#single.get(validator) ?? newTally();
        this.#single.set(validator, single);
        resetLevels(single);
        addReview(single, reviewed);
      }
    }
    logReview(this.#parts.logger, { epoch, total: ofEpoch, reviews, before: this.#last?.reviews });
  }
}

function monitoredSeats({ epochCtx }: CachedBeaconStateAltair, monitored: Iterable<ValidatorIndex>): SyncSeats {
  const seats = new Map<ValidatorIndex, readonly number[]>();
  const { validatorIndexMap } = epochCtx.currentSyncCommitteeIndexed;
  for (const validator of monitored) {
    const positions = validatorIndexMap.get(validator);
    if (positions) seats.set(validator, positions);
  }
  return seats;
}
