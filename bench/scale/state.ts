import { createHash } from "node:crypto";
import { BitArray } from "@chainsafe/ssz";
import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import {
  EPOCHS_PER_HISTORICAL_VECTOR,
  ForkSeq,
  SLOTS_PER_EPOCH,
  SLOTS_PER_HISTORICAL_ROOT,
  ZERO_HASH,
} from "@lodestar/params";
import {
  type CachedBeaconStateFulu,
  computeProposerIndices,
  createCachedBeaconState,
  createPubkeyCache,
  getNextSyncCommittee,
} from "@lodestar/state-transition";
import { type Epoch, ssz } from "@lodestar/types";
import { devChainConfig } from "../../src/dev/chain-config.ts";
import { DEV_GAS_LIMIT } from "../../src/execution/dev-payload.ts";
import { makeRegistry } from "./registry.ts";

const { BeaconState } = ssz.fulu;
const { fields } = BeaconState;

/** Late enough for finality, exits and historical summaries. */
const EPOCH: Epoch = 1000;
/** Slot of the state's latest block, the first of its epoch. */
export const STATE_SLOT = EPOCH * SLOTS_PER_EPOCH;

/** Offset in the SSZ of a state. */
const GENESIS_TIME_OFFSET = 0;

const PENDING_DEPOSITS = 1000;
/** In Gwei. */
const DEPOSIT_AMOUNT = 1e9;

/** Default slot duration. Shorter than on mainnet, so that some epochs take minutes. */
export const SECONDS_PER_SLOT = 6;

export function scaleConfig(slotSeconds = SECONDS_PER_SLOT): BeaconConfig {
  const chainConfig = devChainConfig({
    forks: [{ fork: "fulu", epoch: 0 }],
    slotSeconds,
    genesisTime: 0,
  });
  return createBeaconConfig(chainConfig, hashOf("genesis validators"));
}

/** Builds the state of a finalizing chain whose validators have these public keys. Returns its SSZ. */
export function makeState(keys: Uint8Array): Uint8Array {
  const config = scaleConfig();
  const registry = makeRegistry(keys, EPOCH);
  const count = registry.participation.length;
  const state = BeaconState.defaultViewDU();
  state.genesisValidatorsRoot = config.genesisValidatorsRoot;
  state.slot = STATE_SLOT;
  const version = config.getForkVersion(STATE_SLOT);
  state.fork = ssz.phase0.Fork.toViewDU({ previousVersion: version, currentVersion: version, epoch: 0 });

  const blockRoots = hashes("block", SLOTS_PER_HISTORICAL_ROOT);
  const blockRootAt = (slot: number) => blockRoots[slot % SLOTS_PER_HISTORICAL_ROOT]!;
  state.blockRoots = fields.blockRoots.toViewDU(blockRoots);
  state.stateRoots = fields.stateRoots.toViewDU(hashes("state", SLOTS_PER_HISTORICAL_ROOT));
  state.randaoMixes = fields.randaoMixes.toViewDU(hashes("mix", EPOCHS_PER_HISTORICAL_VECTOR));
  state.historicalSummaries = fields.historicalSummaries.toViewDU(
    hashes("summary", Math.floor(STATE_SLOT / SLOTS_PER_HISTORICAL_ROOT)).map((root) => ({
      blockSummaryRoot: root,
      stateSummaryRoot: root,
    })),
  );
  const checkpoint = (epoch: Epoch) =>
    ssz.phase0.Checkpoint.toViewDU({ epoch, root: blockRootAt(epoch * SLOTS_PER_EPOCH) });
  state.justificationBits = fields.justificationBits.toViewDU(BitArray.fromBoolArray([true, true, true, true]));
  state.previousJustifiedCheckpoint = checkpoint(EPOCH - 2);
  state.currentJustifiedCheckpoint = checkpoint(EPOCH - 1);
  state.finalizedCheckpoint = checkpoint(EPOCH - 2);

  state.validators = fields.validators.deserializeToViewDU(registry.validators);
  state.balances = fields.balances.deserializeToViewDU(registry.balances);
  state.previousEpochParticipation = fields.previousEpochParticipation.deserializeToViewDU(registry.participation);
  state.currentEpochParticipation = fields.currentEpochParticipation.deserializeToViewDU(new Uint8Array(count));
  state.inactivityScores = fields.inactivityScores.deserializeToViewDU(registry.inactivityScores);

  state.eth1Data = ssz.phase0.Eth1Data.toViewDU({
    depositRoot: hashOf("deposits"),
    depositCount: BigInt(count),
    blockHash: hashOf("deposit block"),
  });
  // All eth1 deposits are processed.
  state.eth1DepositIndex = count;
  state.depositRequestsStartIndex = BigInt(count);
  state.pendingDeposits = fields.pendingDeposits.toViewDU(
    topUps(registry.validators, Math.min(PENDING_DEPOSITS, count)),
  );
  state.latestExecutionPayloadHeader = fields.latestExecutionPayloadHeader.toViewDU({
    ...fields.latestExecutionPayloadHeader.defaultValue(),
    blockHash: hashOf("payload"),
    blockNumber: STATE_SLOT,
    gasLimit: DEV_GAS_LIMIT,
  });
  state.earliestExitEpoch = EPOCH + 41;
  state.earliestConsolidationEpoch = EPOCH + 41;
  state.latestBlockHeader = ssz.phase0.BeaconBlockHeader.toViewDU({
    slot: STATE_SLOT,
    proposerIndex: 0,
    parentRoot: blockRootAt(STATE_SLOT - 1),
    stateRoot: ZERO_HASH,
    bodyRoot: hashOf("body"),
  });
  state.commit();
  return assignDuties(state, config).serialize();
}

/** Adds sync committees and proposer lookahead. */
function assignDuties(
  state: ReturnType<typeof BeaconState.defaultViewDU>,
  config: BeaconConfig,
): CachedBeaconStateFulu {
  const cached = createCachedBeaconState(
    state,
    { config, pubkeyCache: createPubkeyCache() },
    { skipSyncPubkeys: true, skipSyncCommitteeCache: true },
  ) as CachedBeaconStateFulu;
  const { epochCtx } = cached;
  const shuffling = epochCtx.getShufflingAtEpoch(EPOCH);
  const { syncCommittee } = getNextSyncCommittee(
    ForkSeq.fulu,
    cached,
    shuffling.activeIndices,
    epochCtx.effectiveBalanceIncrements,
  );
  cached.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  cached.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  const proposers = [EPOCH, EPOCH + 1].flatMap((epoch) =>
    computeProposerIndices(ForkSeq.fulu, cached, epochCtx.getShufflingAtEpoch(epoch), epoch),
  );
  cached.proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(proposers);
  cached.latestBlockHeader.proposerIndex = proposers[0]!;
  cached.commit();
  return cached;
}

/** Top-ups of existing validators, which need no valid signature. */
function topUps(validators: Uint8Array, count: number) {
  const validatorBytes = ssz.phase0.Validator.fixedSize!;
  return Array.from({ length: count }, (_, index) => {
    const { pubkey, withdrawalCredentials } = ssz.phase0.Validator.deserialize(
      validators.subarray(index * validatorBytes, (index + 1) * validatorBytes),
    );
    const slot = STATE_SLOT - count + index;
    return { pubkey, withdrawalCredentials, amount: DEPOSIT_AMOUNT, signature: new Uint8Array(96), slot };
  });
}

/** Sets the genesis time of a serialized state in place. */
export function setGenesisTime(state: Uint8Array, seconds: number): void {
  new DataView(state.buffer, state.byteOffset).setBigUint64(GENESIS_TIME_OFFSET, BigInt(seconds), true);
}

function hashes(of: string, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, position) => hashOf(`${of} ${position}`));
}

function hashOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
