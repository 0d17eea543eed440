import { constants, getPriority, setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";

/** By how much, in the steps of nice(2), what nobody waits for stands behind the rest of the node. */
const STEPS_BEHIND = 10;

/**
 * Has this thread, which is not the main one, give way to others when the processors are busy. Only Linux has a priority for each
 * thread; elsewhere it would be that of the whole process. Where it is not allowed, nothing changes.
 */
export function giveWayToOtherThreads(): void {
  if (process.platform !== "linux" || isMainThread) return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + STEPS_BEHIND));
  } catch {
    // The work is done all the same.
  }
}
