import { DEV_FORKS, type DevFork, type ScheduledFork } from "../../../dev/forks.ts";
import { usageError } from "../../exit.ts";
import { FlagValueError, oneOf, wholeNumber } from "../flag-values.ts";
import { FORK_ALIASES } from "./anvil-flags.ts";

const parseEpoch = wholeNumber(0);
const parseDevFork = oneOf(DEV_FORKS);

/** Parses a consensus layer fork name. */
export function parseFork(text: string): DevFork {
  const consensusName = FORK_ALIASES.get(text.toLowerCase());
  if (consensusName === undefined) return parseDevFork(text);
  throw new FlagValueError(`it must be the name on the consensus layer, which is ${consensusName}`);
}

/** Parses `NAME=EPOCH`. */
export function parseForkActivation(text: string): ScheduledFork {
  const [name, epoch, ...rest] = text.split("=").map((part) => part.trim());
  const fork = DEV_FORKS.find((candidate) => candidate === name);
  const consensusName = FORK_ALIASES.get(name?.toLowerCase() ?? "");
  if (consensusName !== undefined) {
    throw new FlagValueError(`${name} must be named as on the consensus layer, ${consensusName}=${epoch ?? 2}`);
  }
  if (fork === undefined || epoch === undefined || !/^\d+$/.test(epoch) || rest.length > 0) {
    throw new FlagValueError(
      `it must be a fork and its epoch, such as altair=2; the forks are ${DEV_FORKS.join(", ")}`,
    );
  }
  return { fork, epoch: parseEpoch(epoch) };
}

/**
 * Builds the complete fork schedule in order. Forks up to the genesis fork activate at epoch 0. Every later fork needs
 * an epoch of its own, and no fork can be skipped.
 */
export function forkSchedule(genesisFork: DevFork, activations: readonly ScheduledFork[]): ScheduledFork[] {
  const epochs = epochsByName(activations);
  const genesisIndex = DEV_FORKS.indexOf(genesisFork);
  const schedule: ScheduledFork[] = [];
  const skipped: DevFork[] = [];
  for (const [index, fork] of DEV_FORKS.entries()) {
    const epoch = epochs.get(fork);
    if (index <= genesisIndex) {
      requireFromGenesis(fork, epoch, genesisFork);
      schedule.push({ fork, epoch: 0 });
    } else if (epoch === undefined) {
      skipped.push(fork);
    } else {
      requireAfter(schedule.at(-1)!, skipped, { fork, epoch }, genesisFork);
      schedule.push({ fork, epoch });
    }
  }
  return schedule;
}

function epochsByName(activations: readonly ScheduledFork[]): Map<DevFork, number> {
  const epochs = new Map<DevFork, number>();
  for (const { fork, epoch } of activations) {
    const earlier = epochs.get(fork);
    if (earlier !== undefined && earlier !== epoch) {
      throw usageError(`--fork-at sets two epochs for ${fork}, ${earlier} and ${epoch}.`);
    }
    epochs.set(fork, epoch);
  }
  return epochs;
}

function requireFromGenesis(fork: DevFork, epoch: number | undefined, genesisFork: DevFork): void {
  if (epoch === undefined || epoch === 0) return;
  throw usageError(`--fork-at ${fork}=${epoch} contradicts --fork ${genesisFork}, which activates ${fork} at epoch 0.`);
}

function requireAfter(
  previous: ScheduledFork,
  skipped: readonly DevFork[],
  { fork, epoch }: ScheduledFork,
  genesisFork: DevFork,
): void {
  if (epoch === 0) {
    throw usageError(
      `--fork-at ${fork}=0 contradicts --fork ${genesisFork}. To start the chain in ${fork}, give --fork ${fork}.`,
    );
  }
  if (skipped.length > 0) {
    throw usageError(`--fork-at ${fork}=${epoch} skips ${skipped.join(", ")}. Give each fork an epoch with --fork-at.`);
  }
  if (epoch <= previous.epoch) {
    throw usageError(
      `--fork-at ${fork}=${epoch} is not after ${previous.fork}=${previous.epoch}. ` +
        `The epoch of ${fork} must be ${previous.epoch + 1} or later.`,
    );
  }
}
