import type { ValidatorStatus } from "@lodestar/types";

const ENTRY = ["pending_initialized", "pending_queued", "active_ongoing"] as const;
const END = ["withdrawal_possible", "withdrawal_done"] as const;

/** Statuses in their order. A validator that is slashed changes to the other path, at the same position. */
const UNSLASHED: readonly ValidatorStatus[] = [...ENTRY, "active_exiting", "exited_unslashed", ...END];
const SLASHED: readonly ValidatorStatus[] = [...ENTRY, "active_slashed", "exited_slashed", ...END];

export interface PathPosition {
  status: ValidatorStatus;
  isSlashed: boolean;
}

const pathOf = (isSlashed: boolean) => (isSlashed ? SLASHED : UNSLASHED);

/**
 * Where a wanted status lies from the position of a validator: `passed` if a later status on the same path was reached,
 * `unreachable` if it is only on the other path and the validator cannot change to it any more.
 */
export function locateStatus(
  { status, isSlashed }: PathPosition,
  wanted: ValidatorStatus,
): "reached" | "passed" | "ahead" | "unreachable" {
  if (status === wanted) return "reached";
  const path = pathOf(isSlashed);
  const position = path.indexOf(status);
  if (path.includes(wanted)) return path.indexOf(wanted) < position ? "passed" : "ahead";
  return !isSlashed && position <= SLASHED.indexOf(wanted) ? "ahead" : "unreachable";
}

/** Statuses that follow on the path of the validator, in their order. */
export function statusesAfter({ status, isSlashed }: PathPosition): readonly ValidatorStatus[] {
  const path = pathOf(isSlashed);
  return path.slice(path.indexOf(status) + 1);
}
