import { word } from "./word.ts";

/** What a validator can be, in the order of its life. */
export const VALIDATOR_STATUSES = [
  "pending_initialized",
  "pending_queued",
  "active_ongoing",
  "active_exiting",
  "active_slashed",
  "exited_unslashed",
  "exited_slashed",
  "withdrawal_possible",
  "withdrawal_done",
] as const;

/** Groups of statuses are legal in filters only. */
const STATUS_GROUPS = ["pending", "active", "exited", "withdrawal"] as const;

export const validatorStatus = word([...VALIDATOR_STATUSES, ...STATUS_GROUPS]);
