import type { RootHex, ValidatorIndex } from "@lodestar/types";

/** What is other than usual in the duties of a slot; usually nothing. Blocks can be chosen in lockstep alone. */
export interface DutyPlan {
  /** Who does duties; by default all. */
  readonly online?: ReadonlySet<ValidatorIndex>;
  /** The block to build on; by default the head. */
  readonly parentRoot?: RootHex;
  /** The block that attesters and the sync committee vote for; by default that of the slot, or the one that it would build on. */
  readonly votedRoot?: RootHex;
}

/** What is done in slots for which nothing else was said. */
export const USUAL_DUTIES: DutyPlan = {};

export const isOnline = ({ online }: DutyPlan, index: ValidatorIndex): boolean => online?.has(index) ?? true;

/** The duties of those who are online. */
export function onlineOf<Duty extends { validatorIndex: ValidatorIndex }>(
  plan: DutyPlan,
  duties: readonly Duty[],
): Duty[] {
  return duties.filter(({ validatorIndex }) => isOnline(plan, validatorIndex));
}
