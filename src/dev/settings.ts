import type { ValidatorIndex } from "@lodestar/types";
import type { DepositContractOptions } from "./chain-config.ts";
import type { BlobCounts } from "./dev-blobs.ts";
import type { ScheduledFork } from "./forks.ts";
import type { GenesisParameters } from "./genesis-parameters.ts";

// Imports only types: the command line loads this file before it selects the preset.

/** Genesis settings of a dev chain, except for the preset, which belongs to the process. */
export interface DevGenesisSettings extends Complete<GenesisParameters> {
  validators: number;
  /** All scheduled forks in order, from phase0; those at epoch 0 are active at genesis. */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  /** Epochs of history that a new chain starts with. */
  warmupEpochs: number;
  /** Unix seconds; undefined to let the warm-up history end now. */
  genesisTime: number | undefined;
  /** Undefined without a deposit contract. */
  deposits: DepositContractOptions | undefined;
  /** Undefined for a chain without the EVM. */
  evm: { chainId: number } | undefined;
}

/** Settings of a dev chain. */
export interface DevSettings extends DevGenesisSettings {
  /** Validators that perform duties automatically; undefined for all. */
  activeValidators: readonly ValidatorIndex[] | undefined;
  /** Blobs per payload of the built-in execution engine. */
  devBlobs: BlobCounts;
  /** Seconds of chain time per second of real time; 0 for manual time. */
  speed: number;
  /** Leaves missed slots empty, so that chain time equals real time. Requires `speed` 1. */
  catchUp: boolean;
  /** Deletes the stored dev chain. */
  reset: boolean;
}

/** Requires all keys, including those whose value may be undefined. */
type Complete<T> = { [Key in keyof Required<T>]: T[Key] };
