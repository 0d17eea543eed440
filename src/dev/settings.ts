import type { ValidatorIndex } from "@lodestar/types";
import type { DepositContractOptions } from "./chain-config.ts";
import type { BlobCounts } from "./dev-blobs.ts";
import type { ScheduledFork } from "./forks.ts";
import type { GenesisParameters } from "./genesis-parameters.ts";

// Imports only types: the command line loads this file before it selects the preset.

/** Genesis settings of a dev chain, except for the preset, which is process-wide. */
export interface DevGenesisSettings extends Complete<GenesisParameters> {
  validators: number;
  /** All scheduled forks in order, starting with phase0. Forks at epoch 0 are active at genesis. */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  /** Number of epochs of history that a new chain starts with. */
  warmupEpochs: number;
  /** Unix seconds. If undefined, the warm-up history ends now. */
  genesisTime: number | undefined;
  /** Undefined if there is no deposit contract. */
  deposits: DepositContractOptions | undefined;
  /** Undefined for a chain without an EVM. */
  evm: { chainId: number } | undefined;
}

/** Settings of a dev chain. */
export interface DevSettings extends DevGenesisSettings {
  /** Validators that perform duties automatically. If undefined, all of them do. */
  activeValidators: readonly ValidatorIndex[] | undefined;
  /** Blobs per payload from the built-in execution engine. */
  devBlobs: BlobCounts;
  /** Seconds of chain time per second of real time; 0 for manual time. */
  speed: number;
  /** Leaves missed slots empty to make chain time equal real time. Requires `speed` 1. */
  catchUp: boolean;
  /** Deletes the stored dev chain. */
  reset: boolean;
}

/** Requires all keys, even those whose values may be undefined. */
type Complete<T> = { [Key in keyof Required<T>]: T[Key] };
