import { type ChainConfig, chainConfigFromJson, chainConfigToJson, defaultChainConfig } from "@lodestar/config";
import { ACTIVE_PRESET } from "@lodestar/params";
import type { Epoch, RootHex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { applyOverrides } from "./config-overrides.ts";
import { DEV_FORKS, type DevFork, type ScheduledFork } from "./forks.ts";
import type { ConfigOverrides } from "./genesis-parameters.ts";

const GWEI_PER_ETHER = 10 ** 9;

const DEV_CONFIG_NAME = "fanal-dev";

/** Whether a configuration is that of a dev chain, whoever wrote it down. */
export const isDevConfig = ({ CONFIG_NAME }: ChainConfig): boolean => CONFIG_NAME === DEV_CONFIG_NAME;

/** Whether the payloads of a chain come from the built-in dev execution engine, which alone can judge them. */
export const hasBuiltInEngine = (config: ChainConfig): boolean =>
  isDevConfig(config) && config.TERMINAL_BLOCK_HASH.every((byte) => byte === 0);

/** The deposit contract as it is asked for. A new chain with an execution client takes the client's chain id if none is given. */
export type RequestedDeposits = Omit<DevDeposits, "chainId"> & Partial<Pick<DevDeposits, "chainId">>;

/** The execution chain that a dev chain goes on from: that of an execution client. */
export interface ExecutionChain {
  chainId: number;
  genesisBlockHash: RootHex;
}

/** Where the deposits of a dev chain are made that has a deposit contract. */
export interface DevDeposits {
  /** The address of the deposit contract, in hexadecimal digits. */
  contract: string;
  /** Of the chain that the contract is on. */
  chainId: number;
  /** How many blocks, of the length of a slot, votes keep behind the head of that chain. */
  followDistance: number;
}

interface DevChainConfigOptions {
  /**
   * When each fork begins. A fork that is not listed begins together with the one before it, and never when no later one
   * is listed: `[{ fork: "fulu", epoch: 0 }]` runs Fulu from genesis, `[{ fork: "fulu", epoch: 2 }]` runs Electra from
   * genesis and Fulu from epoch 2 on, `[]` stays in Phase 0.
   */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  genesisTime: number;
  /** Left out by a chain with the built-in dev execution engine. */
  execution?: ExecutionChain;
  /** Left out by a chain without a deposit contract. */
  deposits?: DevDeposits;
  /** Left out by a chain whose configuration is that of every dev chain. */
  configOverrides?: ConfigOverrides;
}

/** A whole configuration as it is stored with a chain: texts by the names of the constants. */
export type StoredConfig = Readonly<Record<string, unknown>>;

export const asStoredConfig = (config: ChainConfig): StoredConfig => chainConfigToJson(config);

/** What a stored chain was made with. Constants that were not known then are as chains of now have them. */
export function storedChainConfig(made: DevChainConfigOptions & { config?: StoredConfig }): ChainConfig {
  return { ...devChainConfig(made), ...chainConfigFromJson({ ...made.config }) };
}

/** The run-time configuration of a dev chain on top of the preset this process was started with. */
export function devChainConfig(options: DevChainConfigOptions): ChainConfig {
  const { forks, slotSeconds, genesisTime, execution, deposits, configOverrides = {} } = options;
  if (!Number.isSafeInteger(slotSeconds) || slotSeconds < 1) {
    // Execution payloads carry the time of their slot in whole seconds (bellatrix/beacon-chain.md, compute_time_at_slot).
    throw new RangeError(`A slot of ${slotSeconds} seconds is not possible: slots last a whole number of seconds.`);
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
    GLOAS_FORK_EPOCH: Infinity,
    HEZE_FORK_VERSION: forkVersion(8),
    HEZE_FORK_EPOCH: Infinity,

    TERMINAL_TOTAL_DIFFICULTY: 0n,
    // The genesis block of an execution client is terminal, whatever its difficulty; also, it tells that there is such a client.
    ...(execution && {
      TERMINAL_BLOCK_HASH: fromHex(execution.genesisBlockHash),
      TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH: 0,
    }),

    SECONDS_PER_SLOT: slotSeconds,
    SLOT_DURATION_MS: slotSeconds * 1000,

    // Somebody who tries out voluntary exits should not have to wait for the 64 (minimal) or 256 (mainnet) epochs that a
    // validator has to serve elsewhere.
    SHARD_COMMITTEE_PERIOD: 4,

    // Consolidations get what activations and exits leave of the churn of an epoch. On chains as small as this one that would
    // be nothing, and none is possible unless it is more than the 32 ETH of a validator.
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: 128 * GWEI_PER_ETHER,
    MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT: 64 * GWEI_PER_ETHER,

    // Neither a chain id nor a contract of a network where deposits are worth something.
    DEPOSIT_CHAIN_ID: execution?.chainId ?? 1337,
    DEPOSIT_NETWORK_ID: execution?.chainId ?? 1337,
    DEPOSIT_CONTRACT_ADDRESS: fromHex("0x4242424242424242424242424242424242424242"),
    ...(deposits && depositConfig(deposits, slotSeconds)),
    // The chain's own deposits are never reorganized, so that votes for them need not keep behind.
    ...(!deposits && !execution && { ETH1_FOLLOW_DISTANCE: 0 }),

    // Epochs of mainnet's blob schedule mean nothing here: without entries Electra's limit holds from Fulu on too.
    BLOB_SCHEDULE: [],
  };
  return applyOverrides(config, configOverrides);
}

function depositConfig({ contract, chainId, followDistance }: DevDeposits, slotSeconds: number): Partial<ChainConfig> {
  return {
    DEPOSIT_CHAIN_ID: chainId,
    DEPOSIT_NETWORK_ID: chainId,
    DEPOSIT_CONTRACT_ADDRESS: fromHex(contract),
    SECONDS_PER_ETH1_BLOCK: slotSeconds,
    ETH1_FOLLOW_DISTANCE: followDistance,
  };
}

/** Versions of no public network, so that signatures of a dev chain are worthless elsewhere. */
function forkVersion(position: number): Uint8Array {
  return Uint8Array.of(position, 0x00, 0xfa, 0x4a);
}

function forkEpochs(forks: readonly ScheduledFork[]): Record<DevFork, Epoch> {
  const listed = listedEpochs(forks);
  const lastListed = DEV_FORKS.findLastIndex((fork) => listed.has(fork));
  const epochs = { phase0: 0 } as Record<DevFork, Epoch>;
  let previous: DevFork = "phase0";
  for (const [position, fork] of DEV_FORKS.entries()) {
    if (position === 0) continue;
    epochs[fork] = position > lastListed ? Infinity : (listed.get(fork) ?? epochs[previous]);
    assertOwnEpoch(fork, epochs[fork], previous, epochs[previous]);
    previous = fork;
  }
  return epochs;
}

function listedEpochs(forks: readonly ScheduledFork[]): Map<DevFork, Epoch> {
  const listed = new Map<DevFork, Epoch>();
  for (const { fork, epoch } of forks) {
    if (!DEV_FORKS.includes(fork)) {
      throw new RangeError(`A dev chain cannot run the fork "${fork}": it knows ${DEV_FORKS.join(", ")}.`);
    }
    if (!Number.isSafeInteger(epoch) || epoch < 0) {
      throw new RangeError(`The fork ${fork} cannot begin at epoch ${epoch}: epochs are whole numbers from 0 on.`);
    }
    if (fork === "phase0" && epoch !== 0) {
      throw new RangeError(`The fork phase0 cannot begin at epoch ${epoch}: it is where a chain begins, at epoch 0.`);
    }
    if (listed.has(fork)) throw new RangeError(`The fork ${fork} is scheduled twice: each fork begins once.`);
    listed.set(fork, epoch);
  }
  return listed;
}

/**
 * A state remembers the version of one earlier fork only (phase0/beacon-chain.md, Fork). Were two forks to begin at the
 * same epoch after genesis, attestations of the epoch before could no longer be verified.
 */
function assertOwnEpoch(fork: DevFork, epoch: Epoch, previous: DevFork, previousEpoch: Epoch): void {
  if (epoch === Infinity || epoch > previousEpoch || epoch === 0) return;
  throw new RangeError(
    `The fork ${fork} cannot begin at epoch ${epoch}: ${previous}, which comes before it, begins at epoch ` +
      `${previousEpoch}, and each fork after genesis needs a later epoch than the one before it.`,
  );
}
