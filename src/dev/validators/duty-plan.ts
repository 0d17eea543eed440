import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";

/** Overrides for the validator duties of a slot. `parentRoot` and `splitVote` require lockstep timing. */
export interface DutyPlan {
  /** Validators that perform their duties; all by default. */
  readonly online?: ReadonlySet<ValidatorIndex> | undefined;
  /** Parent of the proposed block; the head by default. */
  readonly parentRoot?: RootHex | undefined;
  /**
   * Validators that vote for another block. All others vote for the slot's block, or for its parent if the block is
   * late.
   */
  readonly splitVote?: SplitVote | undefined;
  /** How late the block is published; on time by default. */
  readonly blockDelay?: BlockDelay | undefined;
  /** Since gloas: how the payload of the block is revealed. A late block is followed by its payload, however late. */
  readonly payload?: PayloadPlan | undefined;
  /**
   * Since gloas: how a member of the payload timeliness committee votes, given its honest vote; honestly by default.
   * Null to abstain.
   */
  readonly payloadVote?: ((voter: ValidatorIndex, honest: PayloadVote) => PayloadVote | null) | undefined;
}

/**
 * How a payload is revealed with its blobs: "full", the default, right after the block; "withhold" not until a request;
 * "different" with another block hash than that of the bid; "equivocation" after such a different one; "invalid" as the
 * bid says, which commits to a payload that the execution engine rejects; "without-blobs" in time, but without its
 * blobs. A payload with a delay is revealed late.
 */
export type PayloadPlan = "full" | "withhold" | "different" | "equivocation" | "invalid" | "without-blobs" | BlockDelay;

/** Votes of a payload attestation (`PayloadAttestationData`). */
export interface PayloadVote {
  readonly payloadPresent: boolean;
  readonly blobDataAvailable: boolean;
}

interface SplitVote {
  readonly root: RootHex;
  readonly includes: (voter: ValidatorIndex) => boolean;
}

/**
 * Publication time of a late block or payload. For a block, the time is past the attestation deadline, so no attestation
 * from the block's slot votes for the block.
 */
export interface BlockDelay {
  /** Number of slots after the block's slot. */
  readonly slots: Slot;
  /** Seconds into that slot. */
  readonly seconds: number;
}

/** Plan without overrides. */
export const DEFAULT_PLAN: DutyPlan = {};

export const isOnline = ({ online }: DutyPlan, index: ValidatorIndex): boolean => online?.has(index) ?? true;

/** True for a plan supported only by lockstep timing. */
export const requiresLockstep = ({ parentRoot, splitVote }: DutyPlan): boolean =>
  parentRoot !== undefined || splitVote !== undefined;

/** Keeps only the duties of online validators. */
export function filterOnline<Duty extends { validatorIndex: ValidatorIndex }>(
  plan: DutyPlan,
  duties: readonly Duty[],
): Duty[] {
  return duties.filter(({ validatorIndex }) => isOnline(plan, validatorIndex));
}
