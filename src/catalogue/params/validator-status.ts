import { word } from "./word.ts";

/** The statuses of validators and the groups of them, which are legal in filters only. */
export const validatorStatus = word([
  "pending_initialized",
  "pending_queued",
  "active_ongoing",
  "active_exiting",
  "active_slashed",
  "exited_unslashed",
  "exited_slashed",
  "withdrawal_possible",
  "withdrawal_done",
  "pending",
  "active",
  "exited",
  "withdrawal",
]);
