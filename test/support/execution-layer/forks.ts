import type { GethGenesis } from "@ethereumjs/common";

/** The forks of the execution layer since the merge, in their order. */
export const FORKS = ["paris", "shanghai", "cancun", "prague", "osaka"] as const;
export type Fork = (typeof FORKS)[number];

/** When the forks after Paris begin, in Unix seconds; one that is absent never does. */
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
