// Must not import any consensus library: the command line loads this file before it selects the preset.

/** Forks supported by a dev chain, in order of activation. */
export const DEV_FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;
export type DevFork = (typeof DEV_FORKS)[number];

export interface ScheduledFork {
  fork: DevFork;
  epoch: number;
}

/** Returns the fork at genesis. */
export const forkAtGenesis = (schedule: readonly ScheduledFork[]): DevFork =>
  schedule.findLast(({ epoch }) => epoch === 0)?.fork ?? "phase0";
