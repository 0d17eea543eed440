import {
  type BeaconConfig,
  type ChainConfig,
  type ChainForkConfig,
  createBeaconConfig,
  createChainForkConfig,
} from "@lodestar/config";
import {
  EFFECTIVE_BALANCE_INCREMENT,
  FAR_FUTURE_EPOCH,
  ForkSeq,
  GENESIS_EPOCH,
  GENESIS_SLOT,
  MAX_EFFECTIVE_BALANCE,
  MIN_ACTIVATION_BALANCE,
  SLOTS_PER_EPOCH,
  UNSET_DEPOSIT_REQUESTS_START_INDEX,
} from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type BeaconStateAltair,
  type BeaconStateBellatrix,
  type BeaconStateElectra,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateFulu,
  computeProposerIndices,
  createCachedBeaconState,
  getEffectiveBalanceIncrementsWithLen,
  getGenesisBeaconState,
  getMaxEffectiveBalance,
  getNextSyncCommittee,
  getTemporaryBlockHeader,
} from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { FlatPubkeys } from "../bls/flat-pubkeys.ts";
import { DEV_GENESIS_BLOCK_HASH } from "../execution/dev-payload.ts";
import type { GenesisBlock } from "../execution/engine-api/genesis-block.ts";
import { createKeys } from "./create-keys.ts";
import { eth1DataAfter, genesisDepositMessages, genesisDeposits } from "./genesis-deposits.ts";
import type { GenesisParameters } from "./genesis-parameters.ts";
import { gloasGenesis } from "./gloas-genesis.ts";
import { InvalidChainError } from "./invalid-chain-error.ts";
import type { DevKeys } from "./validator-keys.ts";

const GENESIS_GAS_LIMIT = 30_000_000;
const GENESIS_BASE_FEE_PER_GAS = 1_000_000_000n;

type BellatrixHeader = BeaconStateBellatrix["latestExecutionPayloadHeader"];

interface DevGenesisOptions extends Omit<GenesisParameters, "configOverrides"> {
  chainConfig: ChainConfig;
  validatorCount: number;
  genesisTime: number;
  /** Genesis block of an execution client. Defaults to that of the built-in dev execution engine. */
  executionGenesis?: GenesisBlock;
  /**
   * True if there is a deposit contract. The contract does not hold the deposits of the genesis validators, so the
   * chain starts at deposit index 0.
   */
  depositsElsewhere?: boolean;
  /** Deposits of all validators, unless there is a deposit contract. Created and signed if absent. */
  signedDeposits?: readonly phase0.DepositData[];
  /** Deposits of all validators if there is a deposit contract. Created if absent. */
  depositMessages?: readonly phase0.DepositMessage[];
}

export interface DevGenesis {
  state: CachedBeaconStateAllForks;
  config: BeaconConfig;
  pubkeyCache: FlatPubkeys;
  keys: DevKeys;
}

/**
 * Creates the genesis state of a dev chain, in the fork scheduled at genesis by its configuration. The result equals
 * that of `initialize_beacon_state_from_eth1` with one deposit per validator, but the slow proofs and signature checks
 * are skipped. Without a deposit contract, deposits are signed because the deposit root covers the signatures.
 */
export function createDevGenesis(options: DevGenesisOptions): DevGenesis {
  const { chainConfig, builders } = options;
  const forkConfig = createChainForkConfig(chainConfig);
  const fork = forkConfig.getForkSeq(GENESIS_SLOT);
  if (fork > ForkSeq.gloas) {
    throw new RangeError(
      `Unsupported genesis fork ${forkConfig.getForkName(GENESIS_SLOT)}. The latest supported fork is gloas.`,
    );
  }
  if (fork < ForkSeq.gloas) {
    // The builders of a chain that crosses the fork make their deposits after it.
    if (builders === undefined || Number.isFinite(chainConfig.GLOAS_FORK_EPOCH)) return createEarlierGenesis(options);
    throw new InvalidChainError(
      `Builders require gloas, but the chain starts in ${ForkSeq[fork]} and never gets there.`,
    );
  }
  const fulu = createEarlierGenesis({ ...options, chainConfig: { ...chainConfig, GLOAS_FORK_EPOCH: Infinity } });
  const { length: active } = fulu.state.epochCtx.currentShuffling.activeIndices;
  if (active < SLOTS_PER_EPOCH) {
    throw new InvalidChainError(
      `Gloas requires at least ${SLOTS_PER_EPOCH} active validators, one per slot of an epoch, but the chain would ` +
        `start with ${active}. Validators are active with a balance of 32 ETH or more.`,
    );
  }
  const state = gloasGenesis(fulu.state as CachedBeaconStateFulu, chainConfig, builders);
  const config = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
  return { ...fulu, config, state: createCachedBeaconState(state, { config, pubkeyCache: fulu.pubkeyCache }) };
}

/** Creates a genesis state of a fork before gloas. */
function createEarlierGenesis(options: DevGenesisOptions): DevGenesis {
  const { chainConfig, validatorCount, genesisTime, depositsElsewhere = false } = options;
  const { executionGenesis = devGenesisBlock(genesisTime) } = options;
  if (!Number.isSafeInteger(validatorCount) || validatorCount < 1) {
    throw new RangeError(`Invalid number of validators: ${validatorCount}. It must be a whole number of at least 1.`);
  }
  const keys = createKeys(options.keys, validatorCount);
  const forkConfig = createChainForkConfig(chainConfig);
  const fork = forkConfig.getForkSeq(GENESIS_SLOT);
  const signed = depositsElsewhere ? [] : (options.signedDeposits ?? genesisDeposits(chainConfig, keys, options));
  const deposits = depositsElsewhere ? (options.depositMessages ?? [...genesisDepositMessages(keys, options)]) : signed;
  const state = getGenesisBeaconState(
    forkConfig,
    eth1DataAfter(signed, executionGenesis.blockHash),
    getTemporaryBlockHeader(forkConfig, forkConfig.getForkTypes(GENESIS_SLOT).BeaconBlock.defaultValue()),
  );
  state.genesisTime = genesisTime;
  state.eth1DepositIndex = depositsElsewhere ? 0 : validatorCount;
  const version = forkConfig.getForkVersion(GENESIS_SLOT);
  state.fork = ssz.phase0.Fork.toViewDU({ previousVersion: version, currentVersion: version, epoch: GENESIS_EPOCH });
  const stakes = genesisStakes(deposits, fork);
  registerValidators(state, deposits, stakes);

  if (fork >= ForkSeq.altair) startAltairAccounting(state as BeaconStateAltair, fork, stakes);
  if (fork >= ForkSeq.bellatrix) {
    (state as BeaconStateBellatrix).latestExecutionPayloadHeader = genesisPayloadHeader(forkConfig, executionGenesis);
  }
  if (fork >= ForkSeq.electra) {
    (state as BeaconStateElectra).depositRequestsStartIndex = UNSET_DEPOSIT_REQUESTS_START_INDEX;
  }
  state.commit();

  const config = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
  const pubkeyCache = new FlatPubkeys();
  const cached = createCachedBeaconState(state, { config, pubkeyCache });
  if (fork < ForkSeq.fulu) return { state: cached, config, pubkeyCache, keys };

  fillProposerLookahead(cached as CachedBeaconStateFulu);
  // The caches were built with the empty lookahead, so they are rebuilt from the final tree.
  const refreshed = createCachedBeaconState(state.type.getViewDU(cached.node) as BeaconStateAllForks, {
    config,
    pubkeyCache,
  });
  return { state: refreshed, config, pubkeyCache, keys };
}

/** Effective balance of a genesis validator, and whether the validator is active at genesis. */
interface Stake {
  effectiveBalance: number;
  isActive: boolean;
}

/** Applies "Process activations" from `initialize_beacon_state_from_eth1`. Before Electra, the cap is 32 ETH. */
function genesisStakes(deposits: readonly phase0.DepositMessage[], fork: ForkSeq): Stake[] {
  const stakes = deposits.map(({ withdrawalCredentials, amount }) => {
    const max = fork >= ForkSeq.electra ? getMaxEffectiveBalance(withdrawalCredentials) : MAX_EFFECTIVE_BALANCE;
    const effectiveBalance = Math.min(amount - (amount % EFFECTIVE_BALANCE_INCREMENT), max);
    return { effectiveBalance, isActive: effectiveBalance >= MIN_ACTIVATION_BALANCE };
  });
  if (stakes.some(({ isActive }) => isActive)) return stakes;
  throw new InvalidChainError(
    "The chain would start without an active validator. At least one needs a balance of 32 ETH or more.",
  );
}

function registerValidators(
  state: BeaconStateAllForks,
  deposits: readonly phase0.DepositMessage[],
  stakes: readonly Stake[],
): void {
  state.validators = state.type.fields.validators.toViewDU(
    stakes.map(({ effectiveBalance, isActive }, index) => {
      const { pubkey, withdrawalCredentials } = deposits[index]!;
      const activation = isActive ? GENESIS_EPOCH : FAR_FUTURE_EPOCH;
      return {
        pubkey,
        withdrawalCredentials,
        effectiveBalance,
        slashed: false,
        activationEligibilityEpoch: activation,
        activationEpoch: activation,
        exitEpoch: FAR_FUTURE_EPOCH,
        withdrawableEpoch: FAR_FUTURE_EPOCH,
      };
    }),
  );
  state.balances = state.type.fields.balances.toViewDU(deposits.map(({ amount }) => amount));
  state.commit();
  state.genesisValidatorsRoot = state.validators.hashTreeRoot();
}

function startAltairAccounting(state: BeaconStateAltair, fork: ForkSeq, stakes: readonly Stake[]): void {
  const zeros = stakes.map(() => 0);
  const { fields } = state.type;
  state.previousEpochParticipation = fields.previousEpochParticipation.toViewDU(zeros);
  state.currentEpochParticipation = fields.currentEpochParticipation.toViewDU(zeros);
  state.inactivityScores = fields.inactivityScores.toViewDU(zeros);

  const increments = getEffectiveBalanceIncrementsWithLen(stakes.length);
  for (const [index, { effectiveBalance }] of stakes.entries()) {
    increments[index] = effectiveBalance / EFFECTIVE_BALANCE_INCREMENT;
  }
  const active = Uint32Array.from([...stakes.keys()].filter((index) => stakes[index]!.isActive));
  // altair/beacon-chain.md, Testing: the same committee is assigned for the current and the next period.
  const { syncCommittee } = getNextSyncCommittee(fork, state, active, increments);
  state.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  state.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
}

/** Creates the genesis block of the built-in execution engine. */
function devGenesisBlock(timestamp: number): GenesisBlock {
  const { ExecutionPayload } = ssz.deneb;
  return {
    ...ExecutionPayload.defaultValue(),
    blockHash: DEV_GENESIS_BLOCK_HASH,
    prevRandao: DEV_GENESIS_BLOCK_HASH,
    timestamp,
    gasLimit: GENESIS_GAS_LIMIT,
    baseFeePerGas: GENESIS_BASE_FEE_PER_GAS,
  };
}

/** Converts the execution genesis block to a payload header. From Bellatrix on, the chain is merged at genesis. */
function genesisPayloadHeader(forkConfig: ChainForkConfig, block: GenesisBlock): BellatrixHeader {
  const { ExecutionPayloadHeader } = forkConfig.getPostBellatrixForkTypes(GENESIS_SLOT);
  const header = {
    ...block,
    transactionsRoot: ssz.bellatrix.Transactions.hashTreeRoot([]),
    withdrawalsRoot: ssz.capella.Withdrawals.hashTreeRoot([]),
  };
  // Fields that do not exist in the fork are ignored.
  return ExecutionPayloadHeader.toViewDU(header) as BellatrixHeader;
}

/** fulu/beacon-chain.md, initialize_proposer_lookahead: proposers for the current and the next epoch. */
function fillProposerLookahead(state: CachedBeaconStateFulu): void {
  const proposers = [GENESIS_EPOCH, GENESIS_EPOCH + 1].flatMap((epoch) =>
    computeProposerIndices(ForkSeq.fulu, state, state.epochCtx.getShufflingAtEpoch(epoch), epoch),
  );
  state.proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(proposers);
  state.commit();
}
