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
 * Locates a status relative to the position of a validator: `passed` if the validator has a later status on the same
 * path, `unreachable` if the status is only on the other path and the validator can no longer change to that path.
 */
export function locateStatus(
  { status, isSlashed }: PathPosition,
  target: ValidatorStatus,
): "reached" | "passed" | "ahead" | "unreachable" {
  if (status === target) return "reached";
  const path = pathOf(isSlashed);
  const position = path.indexOf(status);
  if (path.includes(target)) return path.indexOf(target) < position ? "passed" : "ahead";
  return !isSlashed && position <= SLASHED.indexOf(target) ? "ahead" : "unreachable";
}

/** Statuses that follow on the path of the validator, in their order. */
export function statusesAfter({ status, isSlashed }: PathPosition): readonly ValidatorStatus[] {
  const path = pathOf(isSlashed);
  return path.slice(path.indexOf(status) + 1);
}
