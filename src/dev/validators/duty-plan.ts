import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";

/** What is other than usual in the duties of a slot; usually nothing. Blocks can be chosen in lockstep alone. */
export interface DutyPlan {
  /** Who does duties; by default all. */
  readonly online?: ReadonlySet<ValidatorIndex> | undefined;
  /** The block to build on; by default the head. */
  readonly parentRoot?: RootHex | undefined;
  /** Who votes for another block than the others, who vote for that of the slot or, without one in time, for its parent. */
  readonly dissent?: Dissent | undefined;
  /** When the block of the slot comes; by default at once. */
  readonly lateness?: Lateness | undefined;
}

interface Dissent {
  readonly root: RootHex;
  readonly isBy: (voter: ValidatorIndex) => boolean;
}

/** A moment after attesting was due, so that nobody votes for the block in the slot in which it comes. */
export interface Lateness {
  /** How many slots after its own. */
  readonly slots: Slot;
  /** How long after the beginning of the slot in which it comes. */
  readonly seconds: number;
}

/** What is done in slots for which nothing else was said. */
export const USUAL_DUTIES: DutyPlan = {};

export const isOnline = ({ online }: DutyPlan, index: ValidatorIndex): boolean => online?.has(index) ?? true;

/** Whether the plan is one of those that only lockstep can follow. */
export const choosesBlocks = ({ parentRoot, dissent }: DutyPlan): boolean =>
  parentRoot !== undefined || dissent !== undefined;

/** The duties of those who are online. */
export function onlineOf<Duty extends { validatorIndex: ValidatorIndex }>(
  plan: DutyPlan,
  duties: readonly Duty[],
): Duty[] {
  return duties.filter(({ validatorIndex }) => isOnline(plan, validatorIndex));
}
