import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";

/** Overrides for the validator duties of a slot. `parentRoot` and `splitVote` require lockstep timing. */
export interface DutyPlan {
  /** Validators that do their duties; all by default. */
  readonly online?: ReadonlySet<ValidatorIndex> | undefined;
  /** Parent of the proposed block; the head by default. */
  readonly parentRoot?: RootHex | undefined;
  /**
   * Validators that vote for another block. The others vote for the block of the slot, or for its parent if the block
   * is late.
   */
  readonly splitVote?: SplitVote | undefined;
  /** Delay of the block; none by default. */
  readonly blockDelay?: BlockDelay | undefined;
}

interface SplitVote {
  readonly root: RootHex;
  readonly includes: (voter: ValidatorIndex) => boolean;
}

/**
 * Publication time of a late block. It is past the attestation deadline, so no attestation of that slot votes for it.
 */
export interface BlockDelay {
  /** Slots after the slot of the block. */
  readonly slots: Slot;
  /** Seconds into that slot. */
  readonly seconds: number;
}

/** Plan without overrides. */
export const DEFAULT_PLAN: DutyPlan = {};

export const isOnline = ({ online }: DutyPlan, index: ValidatorIndex): boolean => online?.has(index) ?? true;

/** True for a plan that only lockstep timing supports. */
export const requiresLockstep = ({ parentRoot, splitVote }: DutyPlan): boolean =>
  parentRoot !== undefined || splitVote !== undefined;

/** Filters duties to those of online validators. */
export function filterOnline<Duty extends { validatorIndex: ValidatorIndex }>(
  plan: DutyPlan,
  duties: readonly Duty[],
): Duty[] {
  return duties.filter(({ validatorIndex }) => isOnline(plan, validatorIndex));
}
