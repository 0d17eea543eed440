import type { ValidatorStatus } from "@lodestar/types";

const ENTRY = ["pending_initialized", "pending_queued", "active_ongoing"] as const;
const END = ["withdrawal_possible", "withdrawal_done"] as const;

/** Statuses in order. When a validator is slashed, it moves to the same position on the other path. */
const UNSLASHED: readonly ValidatorStatus[] = [...ENTRY, "active_exiting", "exited_unslashed", ...END];
const SLASHED: readonly ValidatorStatus[] = [...ENTRY, "active_slashed", "exited_slashed", ...END];

export interface PathPosition {
  status: ValidatorStatus;
  isSlashed: boolean;
}

const pathOf = (isSlashed: boolean) => (isSlashed ? SLASHED : UNSLASHED);

/**
 * Locates a status relative to a validator's position: `passed` if the validator has a later status on the same path,
 * `unreachable` if the status is only on the other path and the validator can no longer move there.
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

/** Returns the statuses that follow on the validator's path, in order. */
export function statusesAfter({ status, isSlashed }: PathPosition): readonly ValidatorStatus[] {
  const path = pathOf(isSlashed);
  return path.slice(path.indexOf(status) + 1);
}
