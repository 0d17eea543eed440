// A small real chain for tests: interop keys, real signatures, every block checked by the state transition.
import { aggregateSignatures, type SecretKey } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import type { BeaconConfig, ChainConfig } from "@lodestar/config";
import { DOMAIN_BEACON_PROPOSER, DOMAIN_SYNC_COMMITTEE, ForkSeq } from "@lodestar/params";
import * as transition from "@lodestar/state-transition";
import {
  type BeaconBlockBody,
  type CommitteeIndex,
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
import { devChainConfig } from "../../../../src/dev/chain-config.ts";
import type { DevFork } from "../../../../src/dev/forks.ts";
import { createDevGenesis } from "../../../../src/dev/genesis.ts";
import { applyUnchecked, emptyBlock } from "../made-block.ts";

const GENESIS_TIME = 1_700_000_000;

interface TestChainOptions {
  validators?: number;
  /** Constants of the configuration, such as epochs of later forks. */
  overrides?: Partial<ChainConfig>;
}

export class TestChain {
  readonly config: BeaconConfig;
  readonly secretKeys: SecretKey[];
  head: transition.CachedBeaconStateAllForks;
  headRoot: Root;

  /** @param fork the fork of genesis */
  constructor(fork: DevFork, { validators = 64, overrides }: TestChainOptions = {}) {
    const forks = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    const chainConfig = { ...devChainConfig({ forks, slotSeconds: 6, genesisTime: GENESIS_TIME }), ...overrides };
    const { state, config, keys } = createDevGenesis({
      chainConfig,
      validatorCount: validators,
      genesisTime: GENESIS_TIME,
    });
    this.secretKeys = keys.indices.map((index) => keys.secretKey(index)!);
    this.head = state;
    this.config = config;
    this.headRoot = transition.computeAnchorCheckpoint(config, state).checkpoint.root;
  }

  /** Pre-state of a block at `slot` on the head. */
  stateAt(slot: Slot): transition.CachedBeaconStateAllForks {
    return transition.processSlots(this.head, slot);
  }

  /** Adds a block with all signatures verified and makes it the head. Throws for an invalid body. */
  addBlock(slot: Slot, body: Partial<BeaconBlockBody> = {}): transition.CachedBeaconStateAllForks {
    const pre = this.stateAt(slot);
    const types = this.config.getForkTypes(slot);
    const sign = (validator: ValidatorIndex, signingRoot: Uint8Array) =>
      this.secretKeys[validator]!.sign(signingRoot).toBytes();
    const block = emptyBlock(pre, this.headRoot, sign);
    Object.assign(block.body, body);
    block.stateRoot = applyUnchecked(pre, block).hashTreeRoot();
    const domain = this.config.getDomain(slot, DOMAIN_BEACON_PROPOSER, slot);
    const signature = sign(block.proposerIndex, transition.computeSigningRoot(types.BeaconBlock, block, domain));
    const signed = { message: block, signature } as SignedBeaconBlock;
    // Serialization round trip, as for a peer: fails for values that do not fit their types.
    const received = types.SignedBeaconBlock.deserialize(types.SignedBeaconBlock.serialize(signed));
    this.head = transition.stateTransition(pre, received, {
      executionPayloadStatus: transition.ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: transition.DataAvailabilityStatus.Available,
    });
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
