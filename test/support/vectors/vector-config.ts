import {
  type BeaconConfig,
  type ChainConfig,
  chainConfigFromJson,
  createBeaconConfig,
  createChainForkConfig,
} from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import type { ForkName } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  createCachedBeaconState,
  createPubkeyCache,
} from "@lodestar/state-transition";
import { CONSENSUS_FORKS } from "../../../src/dev/forks.ts";
import type { VectorCase } from "./vector-case.ts";

interface ConfigOptions {
  /** Epoch in which the fork activates; defaults to 0. */
  forkEpoch?: number;
  changes?: Partial<ChainConfig>;
}

/** Returns the configuration of the active preset in which all earlier forks are active at genesis. */
export function configAtFork(
  fork: ForkName,
  genesisValidatorsRoot: Uint8Array,
  { forkEpoch = 0, changes = {} }: ConfigOptions = {},
): BeaconConfig {
  const activation = indexOf(fork);
  const epochs = CONSENSUS_FORKS.slice(1).map((name) => {
    const epoch = indexOf(name) < activation ? 0 : name === fork ? forkEpoch : Number.POSITIVE_INFINITY;
    return [`${name.toUpperCase()}_FORK_EPOCH`, epoch];
  });
  const config = { ...chainConfig, ...changes, ...Object.fromEntries(epochs) };
  return createBeaconConfig(createChainForkConfig(config), genesisValidatorsRoot);
}

/** Returns the configuration of a case, with the constants of its config.yaml. */
export function vectorConfig(
  vector: VectorCase,
  genesisValidatorsRoot: Uint8Array,
  { changes, forkEpoch }: ConfigOptions = {},
): BeaconConfig {
  const constants = chainConfigFromJson(vector.yamlTexts("config"));
  return configAtFork(vector.path.fork as ForkName, genesisValidatorsRoot, {
    forkEpoch,
    changes: { ...constants, ...changes },
  });
}

/** Creates the caches of a state of a vector. */
export function cachedVectorState(fork: ForkName, state: BeaconStateAllForks): CachedBeaconStateAllForks {
  const config = configAtFork(fork, state.genesisValidatorsRoot);
  return createCachedBeaconState(state, { config, pubkeyCache: createPubkeyCache() });
}

/** Returns the fork before this one. */
export const forkBefore = (fork: ForkName): ForkName => CONSENSUS_FORKS[indexOf(fork) - 1] as ForkName;

const indexOf = (fork: string): number => CONSENSUS_FORKS.indexOf(fork as (typeof CONSENSUS_FORKS)[number]);
