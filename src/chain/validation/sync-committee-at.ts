import { ForkSeq, SYNC_COMMITTEE_SIZE, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  computeSyncPeriodAtSlot,
  type SyncCommitteeCache,
} from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";
import { stateOrIgnore, type ValidationContext } from "./context.ts";
import { ignore } from "./outcome.ts";

export const SYNC_SUBCOMMITTEE_SIZE = Math.floor(SYNC_COMMITTEE_SIZE / SYNC_COMMITTEE_SUBNET_COUNT);

/** A part of the sync committee, and where in it a validator stands: it may stand there more than once. */
export interface SubcommitteePositions {
  subcommitteeIndex: number;
  indicesInSubcommittee: number[];
}

/** The sync committees of the head's chain. Many messages of one slot share the state that knows its committee. */
export class SyncCommittees {
  readonly #context: ValidationContext;
  readonly #found = new Map<Slot, Promise<SyncCommitteeCache>>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  /** The committee whose signatures of that slot go into the block of the next (altair/validator.md). */
  at(slot: Slot): Promise<SyncCommitteeCache> {
    let found = this.#found.get(slot);
    if (!found) {
      found = this.#find(slot);
      this.#found.set(slot, found);
    }
    return found;
  }

  async #find(slot: Slot): Promise<SyncCommitteeCache> {
    const { config, forkChoice, states } = this.#context;
    if (config.getForkSeq(slot) < ForkSeq.altair) {
      throw ignore("wrong-fork", `Slot ${slot} is before Altair, so there is no sync committee to sign it.`);
    }
    const { head } = states;
    const periodsAhead = computeSyncPeriodAtSlot(slot + 1) - head.epochCtx.syncPeriod;
    // A state holds the committees of its own and the next period.
    if (periodsAhead !== 0 && periodsAhead !== 1) {
      throw ignore(
        "state-unavailable",
        `The sync committee of slot ${slot} is not known at the head, which is of slot ${head.slot}.`,
      );
    }
    if (config.getForkSeq(head.slot) >= ForkSeq.altair) return head.epochCtx.getIndexedSyncCommittee(slot);
    // As long as all slots since the fork are empty, no block's state has a committee: the fork itself brings it.
    const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(slot));
    const subject = `What the sync committee of slot ${slot} signed`;
    const state = await stateOrIgnore(states.preState(forkChoice.head.root, epochStart), subject);
    return state.epochCtx.getIndexedSyncCommittee(slot);
  }
}

/** What is to be said of a slot that is signed by others than those who have duties in its period; nothing of other slots. */
export function ofNextPeriod(slot: Slot): string {
  if (computeSyncPeriodAtSlot(slot + 1) === computeSyncPeriodAtSlot(slot)) return "";
  return " The last slot of a sync period is signed by the committee of the next period.";
}

export function positionsOf(committee: SyncCommitteeCache, validatorIndex: ValidatorIndex): SubcommitteePositions[] {
  const bySubcommittee = new Map<number, number[]>();
  for (const position of committee.validatorIndexMap.get(validatorIndex) ?? []) {
    const subcommitteeIndex = Math.floor(position / SYNC_SUBCOMMITTEE_SIZE);
    const indices = bySubcommittee.get(subcommitteeIndex) ?? [];
    indices.push(position % SYNC_SUBCOMMITTEE_SIZE);
    bySubcommittee.set(subcommitteeIndex, indices);
  }
  return Array.from(bySubcommittee, ([subcommitteeIndex, indicesInSubcommittee]) => ({
    subcommitteeIndex,
    indicesInSubcommittee,
  }));
}

export function subcommitteeMembers(committee: SyncCommitteeCache, subcommitteeIndex: number): ValidatorIndex[] {
  const start = subcommitteeIndex * SYNC_SUBCOMMITTEE_SIZE;
  return Array.from(committee.validatorIndices.subarray(start, start + SYNC_SUBCOMMITTEE_SIZE));
}
