import { forkSchedule } from "../../src/cli/flags/fork-schedule.ts";
import type { DevFork, ScheduledFork } from "../../src/dev/forks.ts";
import { makeHistory } from "./dev-chain.ts";

/** Slots in which nobody proposed: the last of an epoch and the first of the next, which also is a checkpoint's. */
export const EMPTY_SLOTS = [31, 32] as const;
export const LAST_SLOT = 50;

/**
 * Makes a dev chain that the program opens with the same flags. It finalizes before and after the slots without blocks, and
 * ends with a block.
 */
export async function makeChainWithGap(
  dataDir: string,
  { fork, forkAt = [], validators = 8 }: { fork: DevFork; forkAt?: ScheduledFork[]; validators?: number },
): Promise<void> {
  const options = { validators, forks: forkSchedule(fork, forkAt) };
  await makeHistory(EMPTY_SLOTS[0] - 1, options, dataDir);
  await makeHistory(EMPTY_SLOTS[1], { ...options, activeValidators: [] }, dataDir);
  await makeHistory(LAST_SLOT, options, dataDir);
}
