import { DEV_FORKS, type DevFork, type ScheduledFork } from "../../../dev/forks.ts";
import { usageError } from "../../exit.ts";
import { FlagValueError, oneOf, wholeNumber } from "../flag-values.ts";
import { FORK_ALIASES } from "./anvil-flags.ts";

/** A fork with its epoch, as a flag sets it. */
export interface ForkActivation extends ScheduledFork {
  /** The flag with its value. Default: that of --fork-at. */
  flag?: string;
}

const flagOf = ({ fork, epoch, flag = `--fork-at ${fork}=${epoch}` }: ForkActivation): string => flag;

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
export function forkSchedule(genesisFork: DevFork, activations: readonly ForkActivation[]): ScheduledFork[] {
  const byName = activationsByName(activations);
  const genesisIndex = DEV_FORKS.indexOf(genesisFork);
  const schedule: ScheduledFork[] = [];
  const skipped: DevFork[] = [];
  for (const [index, fork] of DEV_FORKS.entries()) {
    const activation = byName.get(fork);
    if (index <= genesisIndex) {
      if (activation) requireFromGenesis(activation, genesisFork);
      schedule.push({ fork, epoch: 0 });
    } else if (activation === undefined) {
      skipped.push(fork);
    } else {
      requireAfter(schedule.at(-1)!, skipped, activation, genesisFork);
      schedule.push({ fork, epoch: activation.epoch });
    }
  }
  return schedule;
}

function activationsByName(activations: readonly ForkActivation[]): Map<DevFork, ForkActivation> {
  const byName = new Map<DevFork, ForkActivation>();
  for (const activation of activations) {
    const { fork, epoch } = activation;
    const earlier = byName.get(fork);
    if (earlier !== undefined && earlier.epoch !== epoch) {
      throw usageError(
        `${flagOf(activation)} contradicts ${flagOf(earlier)}. Give ${fork} one epoch, ${earlier.epoch} or ${epoch}.`,
      );
    }
    byName.set(fork, activation);
  }
  return byName;
}

function requireFromGenesis(activation: ForkActivation, genesisFork: DevFork): void {
  const { fork, epoch } = activation;
  if (epoch === 0) return;
  throw usageError(
    `${flagOf(activation)} contradicts --fork ${genesisFork}, which activates ${fork} at epoch 0. ` +
      `Start in an earlier fork, or leave out ${flagOf(activation).split(" ")[0]}.`,
  );
}

function requireAfter(
  previous: ScheduledFork,
  skipped: readonly DevFork[],
  activation: ForkActivation,
  genesisFork: DevFork,
): void {
  const { fork, epoch } = activation;
  if (epoch === 0) {
    throw usageError(
      `${flagOf(activation)} is genesis, where the chain is ${genesisFork}. To start it in ${fork}, give --fork ${fork}.`,
    );
  }
  if (skipped.length > 0) {
    throw usageError(`${flagOf(activation)} skips ${skipped.join(", ")}. Give each fork an epoch with --fork-at.`);
  }
  if (epoch <= previous.epoch) {
    throw usageError(
      `${flagOf(activation)} is not after ${previous.fork}=${previous.epoch}. ` +
        `The epoch of ${fork} must be ${previous.epoch + 1} or later.`,
    );
  }
}
