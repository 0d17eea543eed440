import { forkSchedule } from "../../../src/cli/flags/dev/fork-schedule.ts";
import type { DevFork, ScheduledFork } from "../../../src/dev/forks.ts";
import { makeStretches } from "./dev-chain.ts";

/** Empty slots: the last of an epoch and the first of the next, a checkpoint slot. */
export const EMPTY_SLOTS = [31, 32] as const;
export const LAST_SLOT = 50;

/**
 * Creates a dev chain that the program opens with the same flags. It finalizes before and after the empty slots, and
 * ends with a block.
 */
export async function makeChainWithGap(
  dataDir: string,
  { fork, forkAt = [], validators = 8 }: { fork: DevFork; forkAt?: ScheduledFork[]; validators?: number },
): Promise<void> {
  const options = { validators, forks: forkSchedule(fork, forkAt) };
  await makeStretches(
    [
      [EMPTY_SLOTS[0] - 1, options],
      [EMPTY_SLOTS[1], { ...options, activeValidators: [] }],
      [LAST_SLOT, options],
    ],
    dataDir,
  );
}
