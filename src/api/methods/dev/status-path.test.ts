import type { ValidatorStatus } from "@lodestar/types";
import { expect, it } from "vitest";
import { locateStatus, statusesAfter } from "./status-path.ts";

const at = (status: ValidatorStatus, isSlashed = false) => ({ status, isSlashed });

it.each<[from: ReturnType<typeof at>, wanted: ValidatorStatus, where: string]>([
  [at("pending_queued"), "pending_queued", "reached"],
  [at("pending_queued"), "pending_initialized", "passed"],
  [at("pending_queued"), "active_slashed", "ahead"],
  [at("active_ongoing"), "exited_unslashed", "ahead"],
  [at("active_ongoing"), "exited_slashed", "ahead"],
  // A validator that is slashed before its exit leaves the exit path.
  [at("active_exiting"), "active_slashed", "ahead"],
  [at("active_slashed", true), "active_exiting", "unreachable"],
  [at("active_slashed", true), "exited_unslashed", "unreachable"],
  // A validator that is slashed after its exit is never active_slashed.
  [at("exited_unslashed"), "active_slashed", "unreachable"],
  [at("exited_unslashed"), "exited_slashed", "ahead"],
  [at("exited_slashed", true), "active_slashed", "passed"],
  [at("withdrawal_possible"), "exited_slashed", "unreachable"],
  [at("withdrawal_possible", true), "exited_slashed", "passed"],
  [at("withdrawal_done"), "withdrawal_possible", "passed"],
])("from %j, %s is %s", (from, wanted, where) => {
  expect(locateStatus(from, wanted)).toBe(where);
});

it("lists the statuses that follow", () => {
  expect(statusesAfter(at("active_ongoing", true))).toEqual([
    "active_slashed",
    "exited_slashed",
    "withdrawal_possible",
    "withdrawal_done",
  ]);
  expect(statusesAfter(at("withdrawal_done"))).toEqual([]);
});
