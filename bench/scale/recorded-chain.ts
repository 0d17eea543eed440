import { BitArray } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_RANDAO,
  DOMAIN_SYNC_COMMITTEE,
  ForkName,
  MAX_ATTESTATIONS_ELECTRA,
  SYNC_COMMITTEE_SIZE,
  ZERO_HASH,
} from "@lodestar/params";
import {
  type CachedBeaconStateFulu,
  computeEpochAtSlot,
  computeSigningRoot,
  computeStartSlotAtEpoch,
  createCachedBeaconState,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  getBlockRootAtSlot,
  processSlots,
  stateTransition,
} from "@lodestar/state-transition";
import { type electra, type fulu, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestPayload, payloadRequest } from "../../src/chain/production/payload-request.ts";
import { LazyAggregateSignature } from "../../src/dev/validators/lazy-aggregate-signature.ts";
import { createDevPayload } from "../../src/execution/dev-payload.ts";
import { IndicesByKey } from "./indices-by-key.ts";
import { scaleConfig } from "./state.ts";
import { secretScalar } from "./validator-keys.ts";

const FEE_RECIPIENT = new Uint8Array(20).fill(0xfa);

interface RecordedBlock {
  slot: Slot;
  /** SSZ of the signed block contents. */
  contents: Uint8Array;
  /** The library's time to advance the parent state to this slot and hash it. */
  slotsMs: number;
}

/** Builds blocks on a serialized state. All validators attest. */
export class RecordedChain {
  readonly #config: BeaconConfig;
  #state: CachedBeaconStateFulu;

  constructor(serialized: Uint8Array, keys: Uint8Array, slotSeconds: number) {
    this.#config = scaleConfig(slotSeconds);
    const state = ssz.fulu.BeaconState.deserializeToViewDU(serialized);
    this.#state = createCachedBeaconState(
      state,
      { config: this.#config, pubkeyCache: new IndicesByKey(keys) },
      { skipSyncPubkeys: true },
    ) as CachedBeaconStateFulu;
    this.#state.hashTreeRoot();
  }

  /** Builds the next block with the attestations of all slots since the last one, as far as they fit. */
  next(slot: Slot): RecordedBlock {
    const began = performance.now();
    const pre = processSlots(this.#state, slot) as CachedBeaconStateFulu;
    pre.hashTreeRoot();
    const slotsMs = performance.now() - began;
    const block = this.#unsigned(pre);
    const signedBlock: fulu.SignedBeaconBlock = { message: block, signature: new Uint8Array(96) };
    this.#state = stateTransition(pre, signedBlock, {
      verifyStateRoot: false,
      verifyProposer: false,
      verifySignatures: false,
      executionPayloadStatus: ExecutionPayloadStatus.valid,
      dataAvailabilityStatus: DataAvailabilityStatus.Available,
    }) as CachedBeaconStateFulu;
    block.stateRoot = this.#state.hashTreeRoot();
    signedBlock.signature = this.#sign(
      [block.proposerIndex],
      computeSigningRoot(ssz.fulu.BeaconBlock, block, this.#config.getDomain(slot, DOMAIN_BEACON_PROPOSER)),
    );
    return {
      slot,
      contents: ssz.fulu.SignedBlockContents.serialize({ signedBlock, kzgProofs: [], blobs: [] }),
      slotsMs,
    };
  }

  #unsigned(pre: CachedBeaconStateFulu): fulu.BeaconBlock {
    const { slot } = pre;
    const proposerIndex = pre.epochCtx.getBeaconProposer(slot);
    const parentRoot = getBlockRootAtSlot(pre, slot - 1);
    const randaoDomain = this.#config.getDomain(slot, DOMAIN_RANDAO);
    const body: electra.BeaconBlockBody = {
      ...ssz.fulu.BeaconBlockBody.defaultValue(),
      randaoReveal: this.#sign([proposerIndex], computeSigningRoot(ssz.Epoch, computeEpochAtSlot(slot), randaoDomain)),
      eth1Data: pre.eth1Data.toValue(),
      attestations: this.#votedSlots(slot).map((voted) => this.#votesOf(pre, voted)),
      syncAggregate: this.#syncAggregate(pre, parentRoot),
      executionPayload: this.#payload(pre, parentRoot),
    };
    return { slot, proposerIndex, parentRoot, stateRoot: ZERO_HASH, body };
  }

  #votedSlots(slot: Slot): Slot[] {
    const first = Math.max(this.#state.latestBlockHeader.slot, slot - MAX_ATTESTATIONS_ELECTRA);
    return Array.from({ length: slot - first }, (_, position) => first + position);
  }

  /** Aggregates all committees of a slot into one attestation. */
  #votesOf(pre: CachedBeaconStateFulu, slot: Slot): electra.Attestation {
    const epoch = computeEpochAtSlot(slot);
    const isCurrent = epoch === computeEpochAtSlot(pre.slot);
    const { committees } = pre.epochCtx.getShufflingAtEpoch(epoch);
    const ofSlot = committees[slot - computeStartSlotAtEpoch(epoch)]!;
    const voters = ofSlot.flatMap((committee) => [...committee]);
    const data = {
      slot,
      index: 0,
      beaconBlockRoot: getBlockRootAtSlot(pre, slot),
      source: (isCurrent ? pre.currentJustifiedCheckpoint : pre.previousJustifiedCheckpoint).toValue(),
      target: { epoch, root: getBlockRootAtSlot(pre, computeStartSlotAtEpoch(epoch)) },
    };
    const domain = this.#config.getDomain(pre.slot, DOMAIN_BEACON_ATTESTER, slot);
    const committeeBits = ssz.electra.Attestation.fields.committeeBits.defaultValue();
    for (const position of ofSlot.keys()) committeeBits.set(position, true);
    return {
      data,
      committeeBits,
      aggregationBits: BitArray.fromBoolArray(voters.map(() => true)),
      signature: this.#sign(voters, computeSigningRoot(ssz.phase0.AttestationData, data, domain)),
    };
  }

  #syncAggregate(pre: CachedBeaconStateFulu, parentRoot: Uint8Array): electra.BeaconBlockBody["syncAggregate"] {
    const domain = this.#config.getDomain(pre.slot, DOMAIN_SYNC_COMMITTEE, pre.slot - 1);
    const members = pre.epochCtx.currentSyncCommitteeIndexed.validatorIndices;
    return {
      syncCommitteeBits: BitArray.fromBoolArray(new Array(SYNC_COMMITTEE_SIZE).fill(true)),
      syncCommitteeSignature: this.#sign(members, computeSigningRoot(ssz.Root, parentRoot, domain)),
    };
  }

  #payload(pre: CachedBeaconStateFulu, parentRoot: Uint8Array): electra.BeaconBlockBody["executionPayload"] {
    const parent = latestPayload(pre)!;
    const request = payloadRequest(this.#config, ForkName.fulu, pre, {
      slot: pre.slot,
      parentRoot: toRootHex(parentRoot),
      feeRecipient: FEE_RECIPIENT,
      parent,
    });
    return createDevPayload(
      request,
      parent.blockHash,
      parent.blockNumber! + 1,
    ) as electra.BeaconBlockBody["executionPayload"];
  }

  /** Signs as all validators. Returns the aggregate signature. */
  #sign(validators: Iterable<number>, signingRoot: Uint8Array): Uint8Array {
    return new LazyAggregateSignature(signingRoot, Array.from(validators, secretScalar)).sign().toBytes();
  }
}
