import { type ChainConfig, chainConfigFromJson, chainConfigToJson, defaultChainConfig } from "@lodestar/config";
import { ACTIVE_PRESET, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch, RootHex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { applyOverrides } from "./config-overrides.ts";
import { CONSENSUS_FORKS, type DevFork, type ScheduledFork } from "./forks.ts";
import type { ConfigOverrides } from "./genesis-parameters.ts";

const GWEI_PER_ETHER = 10 ** 9;

const DEV_CONFIG_NAME = "fanal-dev";

/** True for the configuration of a dev chain, recognized by its `CONFIG_NAME`. */
export const isDevConfig = ({ CONFIG_NAME }: ChainConfig): boolean => CONFIG_NAME === DEV_CONFIG_NAME;

/** True if the built-in dev execution engine produces and validates the chain's payloads. */
export const hasBuiltInEngine = (config: ChainConfig): boolean =>
  isDevConfig(config) && config.TERMINAL_BLOCK_HASH.every((byte) => byte === 0);

/** Requested deposit contract. If there is no chain id, a new chain uses that of its execution client. */
export type DepositContractOptions = Omit<DepositContract, "chainId"> & Partial<Pick<DepositContract, "chainId">>;

/** The execution chain that a dev chain starts from, provided by an execution client or by the EVM. */
export interface ExecutionChain {
  chainId: number;
  genesisBlockHash: RootHex;
}

/** Deposit contract of a dev chain. */
export interface DepositContract {
  /** Address as a hex string. */
  contract: string;
  /** Id of the execution chain on which the contract is deployed. */
  chainId: number;
  /** `ETH1_FOLLOW_DISTANCE` in blocks. A block is assumed to last one slot. */
  followDistance: number;
}

interface DevChainConfigOptions {
  /**
   * Fork schedule. A fork that is not listed activates together with the previous fork, or never if no later fork is
   * listed: `[{ fork: "fulu", epoch: 0 }]` runs Fulu from genesis, `[{ fork: "fulu", epoch: 2 }]` runs Electra from
   * genesis and Fulu from epoch 2 on, and `[]` stays in Phase 0.
   */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  genesisTime: number;
  /** Absent if there is no execution client. */
  execution?: ExecutionChain;
  /** Absent if there is no EVM. */
  evm?: ExecutionChain;
  /** Absent if there is no deposit contract. */
  deposits?: DepositContract;
  configOverrides?: ConfigOverrides;
}

/** Complete chain configuration as stored in the database: string values by constant name. */
export type StoredConfig = Readonly<Record<string, unknown>>;

export const serializeConfig = (config: ChainConfig): StoredConfig => chainConfigToJson(config);

/** Restores the configuration of a stored chain. Missing constants get this version's defaults. */
export function storedChainConfig(identity: DevChainConfigOptions & { config?: StoredConfig }): ChainConfig {
  return { ...devChainConfig(identity), ...chainConfigFromJson({ ...identity.config }) };
}

/** Builds a dev chain's configuration on top of the active preset. */
export function devChainConfig(options: DevChainConfigOptions): ChainConfig {
  const { forks, slotSeconds, genesisTime, execution, evm, deposits, configOverrides = {} } = options;
  const executionChain = execution ?? evm;
  if (!Number.isSafeInteger(slotSeconds) || slotSeconds < 1) {
    // Execution payloads carry the time of their slot in whole seconds (bellatrix/beacon-chain.md,
    // compute_time_at_slot).
    throw new RangeError(`Invalid slot time: ${slotSeconds} seconds. It must be a whole number of seconds.`);
  }
  const epochs = forkEpochs(forks);

  const config: ChainConfig = {
    ...defaultChainConfig,
    PRESET_BASE: ACTIVE_PRESET,
    CONFIG_NAME: DEV_CONFIG_NAME,

    MIN_GENESIS_TIME: genesisTime,
    GENESIS_DELAY: 0,
    MIN_GENESIS_ACTIVE_VALIDATOR_COUNT: 1,

    GENESIS_FORK_VERSION: forkVersion(0),
    ALTAIR_FORK_VERSION: forkVersion(1),
    ALTAIR_FORK_EPOCH: epochs.altair,
    BELLATRIX_FORK_VERSION: forkVersion(2),
    BELLATRIX_FORK_EPOCH: epochs.bellatrix,
    CAPELLA_FORK_VERSION: forkVersion(3),
    CAPELLA_FORK_EPOCH: epochs.capella,
    DENEB_FORK_VERSION: forkVersion(4),
    DENEB_FORK_EPOCH: epochs.deneb,
    ELECTRA_FORK_VERSION: forkVersion(5),
    ELECTRA_FORK_EPOCH: epochs.electra,
    FULU_FORK_VERSION: forkVersion(6),
    FULU_FORK_EPOCH: epochs.fulu,
    GLOAS_FORK_VERSION: forkVersion(7),
    GLOAS_FORK_EPOCH: epochs.gloas,
    HEZE_FORK_VERSION: forkVersion(8),
    HEZE_FORK_EPOCH: Infinity,

    TERMINAL_TOTAL_DIFFICULTY: 0n,
    // Block 0 of the execution chain is terminal, regardless of its difficulty. Its hash tells joining nodes which
    // engine they need.
    ...(executionChain && {
      TERMINAL_BLOCK_HASH: fromHex(executionChain.genesisBlockHash),
      TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH: 0,
    }),

    SECONDS_PER_SLOT: slotSeconds,
    SLOT_DURATION_MS: slotSeconds * 1000,

    // Allows early voluntary exits. Public networks require 64 (minimal) or 256 (mainnet) epochs.
    SHARD_COMMITTEE_PERIOD: 4,

    // The consolidation churn is the balance churn minus the activation and exit churn (electra/beacon-chain.md,
    // get_consolidation_churn_limit). It must exceed MIN_ACTIVATION_BALANCE; with the defaults, it would be 0 on small
    // chains.
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: 128 * GWEI_PER_ETHER,
    MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT: 64 * GWEI_PER_ETHER,
    // Since gloas it is a fraction of the active balance, which is 64 ETH with eight validators.
    CONSOLIDATION_CHURN_LIMIT_QUOTIENT: 4,

    // A chain id and contract address that no public network uses.
    DEPOSIT_CHAIN_ID: executionChain?.chainId ?? 1337,
    DEPOSIT_NETWORK_ID: executionChain?.chainId ?? 1337,
    DEPOSIT_CONTRACT_ADDRESS: fromHex("0x4242424242424242424242424242424242424242"),
    ...(deposits && depositConfig(deposits, slotSeconds)),
    // Validators vote for finalized blocks of the EVM, which are at least two epochs old.
    ...(evm && { SECONDS_PER_ETH1_BLOCK: slotSeconds, ETH1_FOLLOW_DISTANCE: 2 * SLOTS_PER_EPOCH }),
    // The simulated deposit chain never reorgs, so eth1 votes need no follow distance.
    ...(!deposits && !executionChain && { ETH1_FOLLOW_DISTANCE: 0 }),

    // Drops mainnet's blob schedule. If the schedule is empty, Electra's limit also applies from Fulu on.
    BLOB_SCHEDULE: [],
  };
  return applyOverrides(config, configOverrides);
}

function depositConfig(
  { contract, chainId, followDistance }: DepositContract,
  slotSeconds: number,
): Partial<ChainConfig> {
  return {
    DEPOSIT_CHAIN_ID: chainId,
    DEPOSIT_NETWORK_ID: chainId,
    DEPOSIT_CONTRACT_ADDRESS: fromHex(contract),
    SECONDS_PER_ETH1_BLOCK: slotSeconds,
    ETH1_FOLLOW_DISTANCE: followDistance,
  };
}

/** Returns a fork version that no public network uses, so that a dev chain's signatures cannot be replayed there. */
function forkVersion(position: number): Uint8Array {
  return Uint8Array.of(position, 0x00, 0xfa, 0x4a);
}

function forkEpochs(forks: readonly ScheduledFork[]): Record<DevFork, Epoch> {
  const listed = listedEpochs(forks);
  const lastListed = CONSENSUS_FORKS.findLastIndex((fork) => listed.has(fork));
  const epochs = { phase0: 0 } as Record<DevFork, Epoch>;
  let previous: DevFork = "phase0";
  for (const [position, fork] of CONSENSUS_FORKS.entries()) {
    if (position === 0) continue;
    epochs[fork] = position > lastListed ? Infinity : (listed.get(fork) ?? epochs[previous]);
    assertLaterEpoch(fork, epochs[fork], previous, epochs[previous]);
    previous = fork;
  }
  return epochs;
}

function listedEpochs(forks: readonly ScheduledFork[]): Map<DevFork, Epoch> {
  const listed = new Map<DevFork, Epoch>();
  for (const { fork, epoch } of forks) {
    if (!CONSENSUS_FORKS.includes(fork)) {
      throw new RangeError(`Unknown fork "${fork}". A dev chain supports ${CONSENSUS_FORKS.join(", ")}.`);
    }
    if (!Number.isSafeInteger(epoch) || epoch < 0) {
      throw new RangeError(`Invalid epoch ${epoch} of the fork ${fork}. Epochs are whole numbers from 0 on.`);
    }
    if (fork === "phase0" && epoch !== 0) {
      throw new RangeError(`Invalid epoch ${epoch} of the fork phase0. It is the genesis fork, at epoch 0.`);
    }
    if (listed.has(fork)) throw new RangeError(`The fork ${fork} is scheduled twice. List each fork once.`);
    listed.set(fork, epoch);
  }
  return listed;
}

/**
 * Requires an epoch later than that of the previous fork. A state holds only one previous fork version
 * (phase0/beacon-chain.md, Fork). If two forks shared an epoch, attestations from the preceding epoch could not be
 * verified.
 */
function assertLaterEpoch(fork: DevFork, epoch: Epoch, previous: DevFork, previousEpoch: Epoch): void {
  if (epoch === Infinity || epoch > previousEpoch || epoch === 0) return;
  throw new RangeError(
    `Invalid epoch ${epoch} of the fork ${fork}: the previous fork ${previous} activates at epoch ${previousEpoch}. ` +
      "Each fork after genesis needs a later epoch than the previous one.",
  );
}
