import { constants, getPriority, setPriority } from "node:os";
import { isMainThread } from "node:worker_threads";

/** Increment of the nice value for background threads. */
const NICE_INCREMENT = 10;

/**
 * Lowers the scheduling priority of the current worker thread. Linux only: elsewhere the priority applies to the whole
 * process. Does nothing if the system denies it.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux" || isMainThread) return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + NICE_INCREMENT));
  } catch {
    // The thread keeps its normal priority.
  }
}
