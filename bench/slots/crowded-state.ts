import { type BeaconConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { FAR_FUTURE_EPOCH, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateFulu,
  computeProposerIndices,
  createCachedBeaconState,
  createPubkeyCache,
  getEffectiveBalanceIncrementsWithLen,
  getNextSyncCommittee,
} from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { devChainConfig } from "../../src/dev/chain-config.ts";
import { DEV_GENESIS_BLOCK_HASH } from "../../src/execution/dev-payload.ts";
import { numberedPublicKeys } from "./numbered-keys.ts";

const GENESIS_TIME = 1_600_000_000;
const BALANCE = 32_000_000_000;
/** Excess balance for withdrawals. */
const REWARDS = 10_000_000;
const CREDENTIALS = Buffer.alloc(32, 1);
const EVERY_FLAG = 7;
/** Late enough for normal rewards and finality. */
const EPOCH = 10;

export interface CrowdedState {
  config: BeaconConfig;
  state: BeaconStateAllForks;
}

/** Builds a fulu state at the start of an epoch. All validators attested in the previous epoch. */
export function crowdedState(validators: number): CrowdedState {
  const chainConfig = devChainConfig({
    slotSeconds: 12,
    forks: [{ fork: "fulu", epoch: 0 }],
    genesisTime: GENESIS_TIME,
  });
  const config = createChainForkConfig(chainConfig);
  const state = ssz.fulu.BeaconState.defaultViewDU();
  const version = config.getForkVersion(0);
  state.fork = ssz.phase0.Fork.toViewDU({ previousVersion: version, currentVersion: version, epoch: 0 });
  state.genesisTime = GENESIS_TIME;
  state.slot = state.latestBlockHeader.slot = EPOCH * SLOTS_PER_EPOCH;
  state.latestBlockHeader.bodyRoot = ssz.fulu.BeaconBlockBody.hashTreeRoot(ssz.fulu.BeaconBlockBody.defaultValue());
  state.validators = ssz.phase0.Validators.deserializeToViewDU(validatorBytes(validators));
  state.balances = ssz.phase0.Balances.toViewDU(new Array(validators).fill(BALANCE + REWARDS));
  const flags = new Array<number>(validators).fill(EVERY_FLAG);
  state.previousEpochParticipation = ssz.altair.EpochParticipation.toViewDU(flags);
  state.currentEpochParticipation = ssz.altair.EpochParticipation.toViewDU(new Array(validators).fill(0));
  state.inactivityScores = ssz.altair.InactivityScores.toViewDU(new Array(validators).fill(0));
  state.justificationBits.set(0, true);
  state.currentJustifiedCheckpoint.epoch = state.previousJustifiedCheckpoint.epoch = EPOCH - 1;
  state.finalizedCheckpoint.epoch = EPOCH - 2;
  state.latestExecutionPayloadHeader.blockHash = DEV_GENESIS_BLOCK_HASH;
  state.commit();
  state.genesisValidatorsRoot = state.validators.hashTreeRoot();

  const increments = getEffectiveBalanceIncrementsWithLen(validators).fill(32);
  const active = Uint32Array.from({ length: validators }, (_, index) => index);
  const { syncCommittee } = getNextSyncCommittee(ForkSeq.fulu, state, active, increments);
  state.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  state.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  state.commit();
  const beaconConfig = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
  const cached = createCachedBeaconState(
    state,
    { config: beaconConfig, pubkeyCache: createPubkeyCache() },
    { skipSyncPubkeys: true, skipSyncCommitteeCache: true },
  ) as CachedBeaconStateFulu;
  const proposers = [EPOCH, EPOCH + 1].flatMap((epoch) =>
    computeProposerIndices(ForkSeq.fulu, cached, cached.epochCtx.getShufflingAtEpoch(epoch), epoch),
  );
  cached.proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(proposers);
  cached.commit();
  return { config: beaconConfig, state: ssz.fulu.BeaconState.getViewDU(cached.node) };
}

function validatorBytes(count: number): Uint8Array {
  const validator = ssz.phase0.Validator.serialize({
    ...ssz.phase0.Validator.defaultValue(),
    effectiveBalance: BALANCE,
    withdrawalCredentials: CREDENTIALS,
    exitEpoch: FAR_FUTURE_EPOCH,
    withdrawableEpoch: FAR_FUTURE_EPOCH,
  });
  const bytes = Buffer.alloc(count * validator.length);
  let offset = 0;
  for (const pubkey of numberedPublicKeys(count)) {
    bytes.set(validator, offset);
    bytes.set(pubkey, offset);
    offset += validator.length;
  }
  return bytes;
}
