// Must not import any consensus library: the command line loads this file before it selects the preset.

/** Forks that the node implements, in order of activation. */
export const CONSENSUS_FORKS = [
  "phase0",
  "altair",
  "bellatrix",
  "capella",
  "deneb",
  "electra",
  "fulu",
  "gloas",
] as const;
export type DevFork = (typeof CONSENSUS_FORKS)[number];

/** Fork of a new chain by default: that of mainnet. */
export const DEFAULT_FORK: DevFork = "fulu";

/** Latest fork that flags and options accept. Forks after it are schedulable in tests only. */
const LATEST_DEV_FORK: DevFork = "gloas";

/** Forks that flags and options accept, in order of activation. */
export const DEV_FORKS: readonly DevFork[] = CONSENSUS_FORKS.slice(0, CONSENSUS_FORKS.indexOf(LATEST_DEV_FORK) + 1);

export interface ScheduledFork {
  fork: DevFork;
  epoch: number;
}

/** Returns the fork at genesis. */
export const forkAtGenesis = (schedule: readonly ScheduledFork[]): DevFork =>
  schedule.findLast(({ epoch }) => epoch === 0)?.fork ?? "phase0";
