import { type BeaconConfig, type ChainConfig, createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { ForkName } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  createCachedBeaconState,
  createPubkeyCache,
} from "@lodestar/state-transition";

/** Returns the configuration of the active preset in which all forks up to this one are active at genesis. */
export function configAtFork(fork: ForkName, genesisValidatorsRoot: Uint8Array): BeaconConfig {
  const names = Object.values(ForkName);
  const epochs = Object.fromEntries(
    names
      .filter((name) => name !== ForkName.phase0)
      .map((name) => [`${name.toUpperCase()}_FORK_EPOCH`, names.indexOf(name) <= names.indexOf(fork) ? 0 : Infinity]),
  );
  return createBeaconConfig({ ...chainConfig, ...epochs } as ChainConfig, genesisValidatorsRoot);
}

/** Creates the caches of a state of a vector. */
export function cachedVectorState(fork: ForkName, state: BeaconStateAllForks): CachedBeaconStateAllForks {
  const config = configAtFork(fork, state.genesisValidatorsRoot);
  return createCachedBeaconState(state, { config, pubkeyCache: createPubkeyCache() });
}
