import type { GethGenesis } from "@ethereumjs/common";

/** Execution layer forks since the merge, in order. */
export const FORKS = ["paris", "shanghai", "cancun", "prague", "osaka"] as const;
export type Fork = (typeof FORKS)[number];

/** Activation times of the forks after Paris in Unix seconds. Absent forks never activate. */
export type ForkTimes = Partial<Record<Exclude<Fork, "paris">, number>>;

export function forkTimesOf({ config }: GethGenesis): ForkTimes {
  const entries = FORKS.map((fork) => [fork, (config as unknown as Record<string, unknown>)[`${fork}Time`]] as const);
  return Object.fromEntries(entries.filter(([, time]) => typeof time === "number"));
}

export function forkAt(times: ForkTimes, timestamp: number): Fork {
  return FORKS.findLast((fork) => fork === "paris" || (times[fork] ?? Number.POSITIVE_INFINITY) <= timestamp)!;
}

export function isSince(fork: Fork, first: Fork): boolean {
  return FORKS.indexOf(fork) >= FORKS.indexOf(first);
}
