// A small real chain for tests: interop keys, real signatures, every block checked by the state transition.
import { createHash } from "node:crypto";
import { aggregateSignatures, type SecretKey } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { type BeaconConfig, type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import {
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_RANDAO,
  DOMAIN_SYNC_COMMITTEE,
  ForkName,
  ForkSeq,
  forkAll,
  MAX_EFFECTIVE_BALANCE,
  UNSET_DEPOSIT_REQUESTS_START_INDEX,
} from "@lodestar/params";
import * as transition from "@lodestar/state-transition";
import {
  type altair,
  type BeaconBlock,
  type BeaconBlockBody,
  type bellatrix,
  type CommitteeIndex,
  type capella,
  type phase0,
  type Root,
  type RootHex,
  type SignedBeaconBlock,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { AttestationPool } from "../../../../src/chain/pools/attestation-pool.ts";

const GENESIS_TIME = 1_700_000_000;
const EXECUTION_GENESIS_HASH = new Uint8Array(32).fill(0x42);

/** A configuration with `fork` at genesis; `overrides` can schedule later forks. */
function configUpTo(fork: ForkName, overrides: Partial<ChainConfig> = {}): Partial<ChainConfig> {
  const epochs: Record<string, number> = {};
  for (const name of forkAll) {
    if (name === ForkName.phase0) continue;
    epochs[`${name.toUpperCase()}_FORK_EPOCH`] = ForkSeq[name] <= ForkSeq[fork] ? 0 : Number.POSITIVE_INFINITY;
  }
  return { ...epochs, ...overrides };
}

interface TestChainOptions {
  validators?: number;
  overrides?: Partial<ChainConfig>;
}

export class TestChain {
  readonly config: BeaconConfig;
  readonly secretKeys: SecretKey[];
  head: transition.CachedBeaconStateAllForks;
  headRoot: Root;

  constructor(fork: ForkName, { validators = 64, overrides }: TestChainOptions = {}) {
    this.secretKeys = transition.interopSecretKeys(validators);
    this.head = createGenesis(configUpTo(fork, overrides), this.secretKeys);
    this.config = this.head.epochCtx.config;
    this.headRoot = transition.computeAnchorCheckpoint(this.config, this.head).checkpoint.root;
  }

  /** Pre-state of a block at `slot` on the head. */
  stateAt(slot: Slot): transition.CachedBeaconStateAllForks {
    return transition.processSlots(this.head, slot);
  }

  /** Adds a block with all signatures verified and makes it the head. Throws for an invalid body. */
  addBlock(slot: Slot, body: Partial<BeaconBlockBody> = {}): transition.CachedBeaconStateAllForks {
    const pre = this.stateAt(slot);
    const types = this.config.getForkTypes(slot);
    const block = types.BeaconBlock.defaultValue() as BeaconBlock;
    block.slot = slot;
    block.proposerIndex = pre.epochCtx.getBeaconProposer(slot);
    block.parentRoot = this.headRoot;
    block.body.eth1Data = pre.eth1Data.toValue();
    const proposer = this.secretKeys[block.proposerIndex]!;
    const epoch = transition.computeEpochAtSlot(slot);
    const randaoDomain = this.config.getDomain(slot, DOMAIN_RANDAO, slot);
    block.body.randaoReveal = proposer.sign(transition.computeSigningRoot(ssz.Epoch, epoch, randaoDomain)).toBytes();
    const fork = this.config.getForkSeq(slot);
    if (fork >= ForkSeq.altair) {
      (block.body as altair.BeaconBlockBody).syncAggregate.syncCommitteeSignature = transition.G2_POINT_AT_INFINITY;
    }
    if (fork >= ForkSeq.bellatrix) {
      (block.body as bellatrix.BeaconBlockBody).executionPayload = createPayload(pre);
    }
    Object.assign(block.body, body);

    const statuses = {
      executionPayloadStatus: transition.ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: transition.DataAvailabilityStatus.Available,
    };
    const unsigned = { message: block, signature: new Uint8Array(96) } as SignedBeaconBlock;
    const unverified = { verifyStateRoot: false, verifyProposer: false, verifySignatures: false, ...statuses };
    block.stateRoot = transition.stateTransition(pre, unsigned, unverified).hashTreeRoot();
    const domain = this.config.getDomain(slot, DOMAIN_BEACON_PROPOSER, slot);
    const signature = proposer.sign(transition.computeSigningRoot(types.BeaconBlock, block, domain)).toBytes();
    const signed = { message: block, signature } as SignedBeaconBlock;
    // Serialization round trip, as for a peer: fails for values that do not fit their types.
    const received = types.SignedBeaconBlock.deserialize(types.SignedBeaconBlock.serialize(signed));
    this.head = transition.stateTransition(pre, received, { ...statuses });
    this.headRoot = types.BeaconBlock.hashTreeRoot(block);
    return this.head;
  }

  /** Attestation data of honest validators at `slot` for the head. */
  voteData(slot: Slot, committeeIndex: CommitteeIndex): phase0.AttestationData {
    const state = slot > this.head.slot ? this.stateAt(slot) : this.head;
    const epoch = transition.computeEpochAtSlot(slot);
    const start = transition.computeStartSlotAtEpoch(epoch);
    const root = start >= this.head.slot ? this.headRoot : transition.getBlockRootAtSlot(this.head, start);
    return {
      slot,
      index: this.config.getForkSeq(slot) >= ForkSeq.electra ? 0 : committeeIndex,
      beaconBlockRoot: this.headRoot,
      source: state.currentJustifiedCheckpoint.toValue(),
      target: { epoch, root },
    };
  }

  /** A committee's attestation for the pool, without attesters. */
  attestation(slot: Slot, committeeIndex: CommitteeIndex, changes: Partial<phase0.AttestationData> = {}) {
    const data = { ...this.voteData(slot, committeeIndex), ...changes };
    const dataRoot: RootHex = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
    const committee = this.head.epochCtx.getBeaconCommittee(slot, committeeIndex);
    return { data, dataRoot, committeeIndex, committee, fork: this.config.getForkName(slot) };
  }

  signAttestationData(data: phase0.AttestationData, validator: ValidatorIndex): Uint8Array {
    const signingRoot = transition.getAttestationDataSigningRoot(this.config, data.slot, data);
    return this.secretKeys[validator]!.sign(signingRoot).toBytes();
  }

  addSingle(pool: AttestationPool, attestation: ReturnType<TestChain["attestation"]>, position: number) {
    return pool.addSingle({
      ...attestation,
      position,
      signature: this.signAttestationData(attestation.data, attestation.committee[position]!),
    });
  }

  addAggregate(pool: AttestationPool, attestation: ReturnType<TestChain["attestation"]>, positions: number[]) {
    const signingRoot = transition.getAttestationDataSigningRoot(this.config, attestation.data.slot, attestation.data);
    const attesters = positions.map((position) => this.secretKeys[attestation.committee[position]!]!);
    const signature = aggregateSignatures(attesters.map((voter) => voter.sign(signingRoot))).toBytes();
    const bits = BitArray.fromBitLen(attestation.committee.length);
    for (const position of positions) bits.set(position, true);
    return pool.addAggregate({ ...attestation, bits, signature });
  }

  /** A sync committee message for `root` at `slot`, verified by the next slot's block. */
  signSyncMessage(slot: Slot, root: Root, validator: ValidatorIndex): Uint8Array {
    const domain = this.config.getDomain(slot + 1, DOMAIN_SYNC_COMMITTEE, slot);
    return this.secretKeys[validator]!.sign(transition.computeSigningRoot(ssz.Root, root, domain)).toBytes();
  }
}

function createPayload(pre: transition.CachedBeaconStateAllForks): bellatrix.ExecutionPayload {
  const { config } = pre.epochCtx;
  const view = new transition.BeaconStateView(pre);
  const { latestExecutionPayloadHeader: parent } = pre as transition.CachedBeaconStateExecutions;
  const payload = config
    .getPostBellatrixForkTypes(pre.slot)
    .ExecutionPayload.defaultValue() as bellatrix.ExecutionPayload;
  payload.parentHash = parent.blockHash;
  payload.blockHash = new Uint8Array(32).fill(pre.slot);
  payload.prevRandao = view.getRandaoMix(view.epoch);
  payload.timestamp = transition.computeTimeAtSlot(config, pre.slot, pre.genesisTime);
  if (config.getForkSeq(pre.slot) >= ForkSeq.capella) {
    (payload as capella.ExecutionPayload).withdrawals = view.getExpectedWithdrawals().expectedWithdrawals;
  }
  return payload;
}

function createGenesis(chainConfig: Partial<ChainConfig>, keys: SecretKey[]): transition.CachedBeaconStateAllForks {
  const forkConfig = createChainForkConfig(chainConfig);
  const fork = forkConfig.getForkSeq(0);
  const eth1Data = {
    depositRoot: new Uint8Array(32),
    depositCount: BigInt(keys.length),
    blockHash: EXECUTION_GENESIS_HASH,
  };
  const body = forkConfig.getForkTypes(0).BeaconBlock.defaultValue() as BeaconBlock;
  const header = transition.getTemporaryBlockHeader(forkConfig, body);
  const state = transition.getGenesisBeaconState(forkConfig, eth1Data, header);
  state.genesisTime = GENESIS_TIME;
  state.eth1DepositIndex = keys.length;
  const increments = transition.getEffectiveBalanceIncrementsWithLen(keys.length).fill(32);
  state.validators = ssz.phase0.Validators.toViewDU(keys.map(createValidator)) as typeof state.validators;
  state.balances = ssz.phase0.Balances.toViewDU(keys.map(() => MAX_EFFECTIVE_BALANCE));
  state.commit();
  state.genesisValidatorsRoot = state.validators.hashTreeRoot();
  if (fork >= ForkSeq.altair) {
    const altairState = state as transition.BeaconStateAltair;
    const version = forkConfig.getForkVersion(0);
    altairState.fork = ssz.phase0.Fork.toViewDU({ previousVersion: version, currentVersion: version, epoch: 0 });
    altairState.previousEpochParticipation = ssz.altair.EpochParticipation.toViewDU(keys.map(() => 0));
    altairState.currentEpochParticipation = ssz.altair.EpochParticipation.toViewDU(keys.map(() => 0));
    altairState.inactivityScores = ssz.altair.InactivityScores.toViewDU(keys.map(() => 0));
    const active = transition.getActiveValidatorIndices(state, 0);
    const { syncCommittee } = transition.getNextSyncCommittee(fork, state, active, increments);
    altairState.currentSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
    altairState.nextSyncCommittee = ssz.altair.SyncCommittee.toViewDU(syncCommittee);
  }
  if (fork >= ForkSeq.bellatrix) {
    (state as transition.BeaconStateBellatrix).latestExecutionPayloadHeader.blockHash = EXECUTION_GENESIS_HASH;
  }
  if (fork >= ForkSeq.electra) {
    (state as transition.BeaconStateElectra).depositRequestsStartIndex = UNSET_DEPOSIT_REQUESTS_START_INDEX;
  }
  state.commit();
  const config = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
  const pubkeyCache = transition.createPubkeyCache();
  const cached = transition.createCachedBeaconState(state, { config, pubkeyCache });
  if (fork < ForkSeq.fulu) return cached;
  const lookahead = [0, 1].flatMap((epoch) =>
    transition.computeProposerIndices(fork, cached, cached.epochCtx.getShufflingAtEpoch(epoch), epoch),
  );
  (cached as transition.CachedBeaconStateFulu).proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(lookahead);
  cached.commit();
  const rebuilt = cached.type.getViewDU(cached.node) as transition.BeaconStateAllForks;
  return transition.createCachedBeaconState(rebuilt, { config, pubkeyCache });
}

function createValidator(secretKey: SecretKey): phase0.Validator {
  const pubkey = secretKey.toPublicKey().toBytes();
  return {
    pubkey,
    withdrawalCredentials: blsCredentials(pubkey),
    effectiveBalance: MAX_EFFECTIVE_BALANCE,
    slashed: false,
    activationEligibilityEpoch: 0,
    activationEpoch: 0,
    exitEpoch: Number.POSITIVE_INFINITY,
    withdrawableEpoch: Number.POSITIVE_INFINITY,
  };
}

function blsCredentials(pubkey: Uint8Array): Uint8Array {
  const credentials = new Uint8Array(createHash("sha256").update(pubkey).digest());
  credentials[0] = 0;
  return credentials;
}
