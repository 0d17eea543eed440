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
  createPubkeyCache,
  getEffectiveBalanceIncrementsWithLen,
  getGenesisBeaconState,
  getNextSyncCommittee,
  getTemporaryBlockHeader,
  type PubkeyCache,
} from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { DEV_GENESIS_BLOCK_HASH } from "../execution/dev-payload.ts";
import type { GenesisBlock } from "../execution/engine-api/genesis-block.ts";
import { eth1DataAfter, genesisDeposits } from "./genesis-deposits.ts";
import { InteropKeys } from "./interop-keys.ts";

const GENESIS_GAS_LIMIT = 30_000_000;
const GENESIS_BASE_FEE_PER_GAS = 1_000_000_000n;

type BellatrixHeader = BeaconStateBellatrix["latestExecutionPayloadHeader"];

interface DevGenesisOptions {
  chainConfig: ChainConfig;
  validatorCount: number;
  genesisTime: number;
  /** Of an execution client; by default that of the built-in dev execution engine. */
  executionGenesis?: GenesisBlock;
  /**
   * Whether there is a deposit contract, which nobody has made a deposit to for the validators of the genesis. The first
   * deposit that is made there is then the first that the chain takes.
   */
  depositsElsewhere?: boolean;
}

export interface DevGenesis {
  state: CachedBeaconStateAllForks;
  config: BeaconConfig;
  pubkeyCache: PubkeyCache;
  keys: InteropKeys;
}

/**
 * The genesis state of a dev chain in whichever fork its configuration starts with. It equals, bit for bit, what
 * `initialize_beacon_state_from_eth1` makes of one deposit a validator, without the proofs and the signature checks that
 * make that way slow; the deposits are signed only for the deposit root to be true.
 */
export function createDevGenesis(options: DevGenesisOptions): DevGenesis {
  const { chainConfig, validatorCount, genesisTime, depositsElsewhere = false } = options;
  const { executionGenesis = devGenesisBlock(genesisTime) } = options;
  if (!Number.isSafeInteger(validatorCount) || validatorCount < 1) {
    throw new RangeError(
      `A chain cannot start with ${validatorCount} validators: it needs a whole number of at least 1.`,
    );
  }
  const keys = new InteropKeys(validatorCount);
  const forkConfig = createChainForkConfig(chainConfig);
  const fork = forkConfig.getForkSeq(GENESIS_SLOT);
  if (fork > ForkSeq.fulu) {
    throw new RangeError(
      `A dev chain cannot start in the fork ${forkConfig.getForkName(GENESIS_SLOT)}: fulu is the last.`,
    );
  }

  const deposits = genesisDeposits(chainConfig, keys);
  const state = getGenesisBeaconState(
    forkConfig,
    eth1DataAfter(depositsElsewhere ? [] : deposits, executionGenesis.blockHash),
    getTemporaryBlockHeader(forkConfig, forkConfig.getForkTypes(GENESIS_SLOT).BeaconBlock.defaultValue()),
  );
  state.genesisTime = genesisTime;
  state.eth1DepositIndex = depositsElsewhere ? 0 : validatorCount;
  const version = forkConfig.getForkVersion(GENESIS_SLOT);
  state.fork = ssz.phase0.Fork.toViewDU({ previousVersion: version, currentVersion: version, epoch: GENESIS_EPOCH });
  registerValidators(state, deposits);

  if (fork >= ForkSeq.altair) startAltairAccounting(state as BeaconStateAltair, fork, deposits);
  if (fork >= ForkSeq.bellatrix) {
    (state as BeaconStateBellatrix).latestExecutionPayloadHeader = genesisPayloadHeader(forkConfig, executionGenesis);
  }
  if (fork >= ForkSeq.electra) {
    (state as BeaconStateElectra).depositRequestsStartIndex = UNSET_DEPOSIT_REQUESTS_START_INDEX;
  }
  state.commit();

  const config = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
  const pubkeyCache = createPubkeyCache();
  const cached = createCachedBeaconState(state, { config, pubkeyCache });
  if (fork < ForkSeq.fulu) return { state: cached, config, pubkeyCache, keys };

  fillProposerLookahead(cached as CachedBeaconStateFulu);
  // The caches were made from the empty lookahead, so they are made anew from the tree that holds the right one.
  const refreshed = createCachedBeaconState(state.type.getViewDU(cached.node) as BeaconStateAllForks, {
    config,
    pubkeyCache,
  });
  return { state: refreshed, config, pubkeyCache, keys };
}

function registerValidators(state: BeaconStateAllForks, deposits: readonly phase0.DepositData[]): void {
  state.validators = state.type.fields.validators.toViewDU(
    deposits.map(({ pubkey, withdrawalCredentials, amount }) => ({
      pubkey,
      withdrawalCredentials,
      effectiveBalance: amount,
      slashed: false,
      activationEligibilityEpoch: GENESIS_EPOCH,
      activationEpoch: GENESIS_EPOCH,
      exitEpoch: FAR_FUTURE_EPOCH,
      withdrawableEpoch: FAR_FUTURE_EPOCH,
    })),
  );
  state.balances = state.type.fields.balances.toViewDU(deposits.map(({ amount }) => amount));
  state.commit();
  state.genesisValidatorsRoot = state.validators.hashTreeRoot();
}

function startAltairAccounting(state: BeaconStateAltair, fork: ForkSeq, deposits: readonly phase0.DepositData[]): void {
  const zeros = deposits.map(() => 0);
  const { fields } = state.type;
  state.previousEpochParticipation = fields.previousEpochParticipation.toViewDU(zeros);
  state.currentEpochParticipation = fields.currentEpochParticipation.toViewDU(zeros);
  state.inactivityScores = fields.inactivityScores.toViewDU(zeros);

  const increments = getEffectiveBalanceIncrementsWithLen(deposits.length);
  for (const [index, { amount }] of deposits.entries()) increments[index] = amount / EFFECTIVE_BALANCE_INCREMENT;
  const everyValidator = Uint32Array.from(deposits.keys());
  // altair/beacon-chain.md, Testing: a duplicate committee is assigned for the current and the next period.
  const { syncCommittee } = getNextSyncCommittee(fork, state, everyValidator, increments);
  state.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  state.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
}

/** The one block that the execution chain of the built-in engine begins with. */
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

/** From Bellatrix on the chain is merged from the start: its execution chain consists of this one block. */
function genesisPayloadHeader(forkConfig: ChainForkConfig, block: GenesisBlock): BellatrixHeader {
  const { ExecutionPayloadHeader } = forkConfig.getPostBellatrixForkTypes(GENESIS_SLOT);
  const header = {
    ...block,
    transactionsRoot: ssz.bellatrix.Transactions.hashTreeRoot([]),
    withdrawalsRoot: ssz.capella.Withdrawals.hashTreeRoot([]),
  };
  // The fields that the fork has are taken, the others are left.
  return ExecutionPayloadHeader.toViewDU(header) as BellatrixHeader;
}

/** fulu/beacon-chain.md, initialize_proposer_lookahead: the proposers of this epoch and of the next. */
function fillProposerLookahead(state: CachedBeaconStateFulu): void {
  const proposers = [GENESIS_EPOCH, GENESIS_EPOCH + 1].flatMap((epoch) =>
    computeProposerIndices(ForkSeq.fulu, state, state.epochCtx.getShufflingAtEpoch(epoch), epoch),
  );
  state.proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(proposers);
  state.commit();
}
