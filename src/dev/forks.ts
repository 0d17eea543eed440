// Free of the consensus libraries, because the command line reads it before their preset is chosen.

/** The forks a dev chain can run, in the order in which they follow each other. */
export const DEV_FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;
export type DevFork = (typeof DEV_FORKS)[number];

export interface ScheduledFork {
  fork: DevFork;
  epoch: number;
}

/** The fork that a chain with this schedule starts in. */
export const forkAtGenesis = (schedule: readonly ScheduledFork[]): DevFork =>
  schedule.findLast(({ epoch }) => epoch === 0)?.fork ?? "phase0";
