import { usageError } from "./exit.ts";
import { FlagValueError, wholeNumber } from "./flag-values.ts";

/** The forks a dev chain can have, in the order in which they follow each other. */
export const DEV_FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;
export type DevFork = (typeof DEV_FORKS)[number];

export interface ForkActivation {
  fork: DevFork;
  epoch: number;
}

const parseEpoch = wholeNumber(0);

/** Reads `NAME=EPOCH`. */
export function parseForkActivation(text: string): ForkActivation {
  const [name, epoch, ...rest] = text.split("=").map((part) => part.trim());
  const fork = DEV_FORKS.find((candidate) => candidate === name);
  if (fork === undefined || epoch === undefined || !/^\d+$/.test(epoch) || rest.length > 0) {
    throw new FlagValueError(
      `it must be a fork and its epoch, such as altair=2; the forks are ${DEV_FORKS.join(", ")}`,
    );
  }
  return { fork, epoch: parseEpoch(epoch) };
}

/**
 * All forks the chain will ever have with the epoch each begins in, in fork order. Everything up to the genesis fork begins
 * in epoch 0. A fork that is not named but precedes a named one begins together with that one, since a state can only be
 * upgraded from the fork just before.
 */
export function forkSchedule(genesisFork: DevFork, activations: readonly ForkActivation[]): ForkActivation[] {
  const named = new Map<DevFork, number>();
  for (const { fork, epoch } of activations) {
    const earlier = named.get(fork);
    if (earlier !== undefined && earlier !== epoch) {
      throw usageError(`--fork-at gives ${fork} two epochs, ${earlier} and ${epoch}; a fork begins once.`);
    }
    named.set(fork, epoch);
  }

  const genesisIndex = DEV_FORKS.indexOf(genesisFork);
  const schedule: ForkActivation[] = [];
  let nextNamed: ForkActivation | undefined;
  for (let index = DEV_FORKS.length - 1; index >= 0; index--) {
    const fork = DEV_FORKS[index]!;
    const epoch = named.get(fork);
    if (index <= genesisIndex) {
      if (epoch !== undefined && epoch !== 0) {
        throw usageError(
          `--fork-at ${fork}=${epoch} contradicts --fork ${genesisFork}: a chain that starts in ${genesisFork} has ${fork} from epoch 0.`,
        );
      }
      schedule.unshift({ fork, epoch: 0 });
      continue;
    }
    if (epoch === 0) {
      throw usageError(
        `--fork-at ${fork}=0 contradicts --fork ${genesisFork}: to start the chain in ${fork}, say --fork ${fork}.`,
      );
    }
    if (epoch !== undefined) {
      if (nextNamed !== undefined && nextNamed.epoch < epoch) {
        throw usageError(
          `--fork-at ${nextNamed.fork}=${nextNamed.epoch} comes before ${fork}=${epoch}; ${nextNamed.fork} follows ${fork}, so its epoch must be ${epoch} or later.`,
        );
      }
      nextNamed = { fork, epoch };
    }
    if (nextNamed !== undefined) schedule.unshift({ fork, epoch: nextNamed.epoch });
  }
  return schedule;
}
