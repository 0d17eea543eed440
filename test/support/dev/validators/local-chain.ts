import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, SYNC_COMMITTEE_SIZE, SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateBellatrix,
  computeAnchorCheckpoint,
  computeStartSlotAtEpoch,
  computeTimeAtSlot,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  G2_POINT_AT_INFINITY,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type altair,
  type BeaconBlock,
  type bellatrix,
  type capella,
  type Epoch,
  type phase0,
  type RootHex,
  type SignedBeaconBlock,
  type Slot,
  ssz,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { DevGenesis } from "../../../../src/dev/genesis.ts";
import { DEV_GENESIS_BLOCK_HASH } from "../../../../src/execution/dev-payload.ts";

const statuses = {
  executionPayloadStatus: ExecutionPayloadStatus.valid,
  dataAvailabilityStatus: DataAvailabilityStatus.Available,
};

/** Single-branch chain that validates everything by the specification, to test validators against. */
export class LocalChain {
  readonly config: BeaconConfig;
  head: CachedBeaconStateAllForks;
  headRoot: Uint8Array;
  readonly blocks: SignedBeaconBlock[] = [];
  readonly #rootsBySlot = new Map<Slot, Uint8Array>();

  constructor({ config, state }: DevGenesis) {
    this.config = config;
    this.head = state;
    this.headRoot = computeAnchorCheckpoint(config, state).checkpoint.root;
    this.#rootsBySlot.set(0, this.headRoot);
  }

  /** Returns the head state, advanced to the slot. */
  stateAt(slot: Slot): CachedBeaconStateAllForks {
    return this.head.slot < slot ? processSlots(this.head, slot) : this.head;
  }

  /** Returns the root of the last block before an epoch. */
  dependentRoot(epoch: Epoch): RootHex {
    return toRootHex(this.#rootAt(Math.max(computeStartSlotAtEpoch(epoch) - 1, 0)));
  }

  attestationData(slot: Slot): phase0.AttestationData {
    const state = this.stateAt(slot);
    const epoch = state.epochCtx.epoch;
    return {
      slot,
      index: 0,
      beaconBlockRoot: this.headRoot,
      source: state.currentJustifiedCheckpoint.toValue(),
      target: { epoch, root: this.#rootAt(computeStartSlotAtEpoch(epoch)) },
    };
  }

  produce(
    slot: Slot,
    randaoReveal: Uint8Array,
    attestations: Attestation[],
    contributions: altair.SyncCommitteeContribution[],
  ): BeaconBlock {
    const pre = this.stateAt(slot);
    const fork = this.config.getForkSeq(slot);
    const block: BeaconBlock = this.config.getForkTypes(slot).BeaconBlock.defaultValue();
    block.slot = slot;
    block.proposerIndex = pre.epochCtx.getBeaconProposer(slot);
    block.parentRoot = this.headRoot;
    block.body.randaoReveal = randaoReveal;
    block.body.eth1Data = pre.eth1Data.toValue();
    block.body.attestations = attestations as phase0.Attestation[];
    if (fork >= ForkSeq.altair) (block as altair.BeaconBlock).body.syncAggregate = syncAggregate(contributions);
    if (fork >= ForkSeq.bellatrix) (block as bellatrix.BeaconBlock).body.executionPayload = this.#payload(pre);
    const unsigned = { message: block, signature: new Uint8Array(96) } as SignedBeaconBlock;
    const options = { ...statuses, verifyStateRoot: false, verifyProposer: false, verifySignatures: false };
    block.stateRoot = stateTransition(pre, unsigned, options).hashTreeRoot();
    return block;
  }

  /** Throws if the state transition or a signature is invalid. */
  import(signedBlock: SignedBeaconBlock): void {
    const { slot } = signedBlock.message;
    const checks = { verifyStateRoot: true, verifyProposer: true, verifySignatures: true };
    this.head = stateTransition(this.stateAt(slot), signedBlock, { ...statuses, ...checks });
    this.headRoot = ssz.phase0.BeaconBlockHeader.hashTreeRoot({
      ...this.head.latestBlockHeader.toValue(),
      stateRoot: this.head.hashTreeRoot(),
    });
    this.#rootsBySlot.set(slot, this.headRoot);
    this.blocks.push(signedBlock);
  }

  #rootAt(slot: Slot): Uint8Array {
    for (let at = slot; at > 0; at--) {
      const root = this.#rootsBySlot.get(at);
      if (root) return root;
    }
    return this.#rootsBySlot.get(0)!;
  }

  #payload(pre: CachedBeaconStateAllForks): bellatrix.ExecutionPayload {
    const { slot } = pre;
    const view = new BeaconStateView(pre);
    const payload: bellatrix.ExecutionPayload = this.config
      .getPostBellatrixForkTypes(slot)
      .ExecutionPayload.defaultValue();
    const parent = (pre as CachedBeaconStateBellatrix).latestExecutionPayloadHeader;
    payload.parentHash = view.isMergeTransitionComplete ? parent.blockHash : DEV_GENESIS_BLOCK_HASH;
    payload.blockNumber = parent.blockNumber + 1;
    payload.prevRandao = view.getRandaoMix(view.epoch);
    payload.timestamp = computeTimeAtSlot(this.config, slot, pre.genesisTime);
    payload.blockHash = ssz.Root.hashTreeRoot(ssz.UintNum64.hashTreeRoot(slot));
    if (this.config.getForkSeq(slot) >= ForkSeq.capella) {
      (payload as capella.ExecutionPayload).withdrawals = view.getExpectedWithdrawals().expectedWithdrawals;
    }
    return payload;
  }
}

function syncAggregate(contributions: altair.SyncCommitteeContribution[]): altair.SyncAggregate {
  const syncCommitteeBits = BitArray.fromBitLen(SYNC_COMMITTEE_SIZE);
  for (const { subcommitteeIndex, aggregationBits } of contributions) {
    for (const position of aggregationBits.getTrueBitIndexes()) {
      syncCommitteeBits.set(subcommitteeIndex * SYNC_COMMITTEE_SUBNET_SIZE + position, true);
    }
  }
  const syncCommitteeSignature =
    contributions.length === 0
      ? G2_POINT_AT_INFINITY
      : aggregateSerializedSignatures(contributions.map(({ signature }) => signature)).toBytes();
  return { syncCommitteeBits, syncCommitteeSignature };
}
