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

/** A subcommittee and a validator's positions in it. */
export interface SubcommitteePositions {
  subcommitteeIndex: number;
  indicesInSubcommittee: number[];
}

/** Sync committees on the head's chain, cached per slot. */
export class SyncCommittees {
  readonly #context: ValidationContext;
  readonly #committees = new Map<Slot, Promise<SyncCommitteeCache>>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  /**
   * Returns the committee that signs at the given slot. Its signatures are included in the next slot's block, so it is
   * the committee of the next slot (altair/validator.md).
   */
  at(slot: Slot): Promise<SyncCommitteeCache> {
    let committee = this.#committees.get(slot);
    if (!committee) {
      committee = this.#find(slot);
      this.#committees.set(slot, committee);
    }
    return committee;
  }

  async #find(slot: Slot): Promise<SyncCommitteeCache> {
    const { config, forkChoice, states } = this.#context;
    if (config.getForkSeq(slot) < ForkSeq.altair) {
      throw ignore("wrong-fork", `Slot ${slot} is before Altair and has no sync committee.`);
    }
    const { head } = states;
    const periodsAhead = computeSyncPeriodAtSlot(slot + 1) - head.epochCtx.syncPeriod;
    // A state contains the sync committees of its own period and of the next one.
    if (periodsAhead !== 0 && periodsAhead !== 1) {
      throw ignore(
        "state-unavailable",
        `The sync committee of slot ${slot} is unknown at the head, slot ${head.slot}.`,
      );
    }
    if (config.getForkSeq(head.slot) >= ForkSeq.altair) return head.epochCtx.getIndexedSyncCommittee(slot);
    // If all slots since the fork are empty, only the upgraded state has a committee.
    const epochStart = computeStartSlotAtEpoch(computeEpochAtSlot(slot));
    const subject = `The sync committee message of slot ${slot}`;
    const state = await stateOrIgnore(states.preState(forkChoice.head.root, epochStart), subject);
    return state.epochCtx.getIndexedSyncCommittee(slot);
  }
}

/**
 * Returns a clause explaining that the next period's committee signs in the last slot of a period; an empty string for
 * other slots.
 */
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
