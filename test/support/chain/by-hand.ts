import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray, type Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_ATTESTER, DOMAIN_BEACON_PROPOSER, ForkSeq } from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getExecutionPayloadEnvelopeSigningRoot,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type BeaconBlock,
  type gloas,
  type phase0,
  type RootHex,
  type SignedBeaconBlock,
  type SingleAttestation,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import type { ProducedFullBlock } from "../../../src/chain/production/block-producer.ts";
import type { HeaderSidecar } from "../../../src/data/sidecar.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { ValidatorSigner } from "../../../src/dev/validators/signer.ts";
import { applyUnchecked } from "./made-block.ts";

export interface HandMadeBlock {
  root: RootHex;
  signed: SignedBeaconBlock;
}

export interface BlockWithSidecars extends HandMadeBlock {
  /** All of them, in order, of a block before gloas. */
  sidecars: HeaderSidecar[];
}

export interface BlockWithPayload extends HandMadeBlock {
  /** By the proposer. */
  envelope: gloas.SignedExecutionPayloadEnvelope;
}

/** The parts of a dev chain needed to act on it. */
export type HandDrivenChain = Pick<DevChain, "config" | "clock" | "chain" | "api" | "keys">;

/** Performs validator duties manually, honestly or not, with the known keys of a dev chain. */
export class ByHand {
  readonly signer: ValidatorSigner;
  readonly #devChain: HandDrivenChain;

  constructor(devChain: HandDrivenChain) {
    this.#devChain = devChain;
    this.signer = new ValidatorSigner(devChain.config, devChain.keys);
  }

  /** A valid block with the pooled operations. The mark distinguishes blocks of one slot and parent. */
  async produce(slot: Slot, parentRoot: RootHex, mark = 0): Promise<BeaconBlock> {
    const { block } = await this.#produce(slot, parentRoot, mark);
    return block;
  }

  sign(block: BeaconBlock, by: ValidatorIndex = block.proposerIndex): HandMadeBlock {
    const type = this.#devChain.config.getForkTypes(block.slot).BeaconBlock as Type<BeaconBlock>;
    const signature = this.signer.sign(by, this.signer.signingRoot(type, block, DOMAIN_BEACON_PROPOSER, block.slot));
    return { root: toRootHex(type.hashTreeRoot(block)), signed: { message: block, signature } };
  }

  /** Produces and signs a block since gloas, and its payload. */
  async produceWithPayload(slot: Slot, parentRoot: RootHex, mark = 0): Promise<BlockWithPayload> {
    const { block, envelope } = await this.#produce(slot, parentRoot, mark);
    return { ...this.sign(block), envelope: this.signEnvelope(envelope!, block.proposerIndex) };
  }

  signEnvelope(message: gloas.ExecutionPayloadEnvelope, by: ValidatorIndex): gloas.SignedExecutionPayloadEnvelope {
    const signingRoot = getExecutionPayloadEnvelopeSigningRoot(this.#devChain.config, message);
    return { message, signature: this.signer.sign(by, signingRoot) };
  }

  /** Produces, signs and imports a block. */
  async propose(slot: Slot, parentRoot: RootHex, mark?: number): Promise<HandMadeBlock> {
    const made = this.sign(await this.produce(slot, parentRoot, mark));
    await this.#devChain.chain.importBlock(made.signed);
    return made;
  }

  /** A signed block with blobs, on a chain whose engine makes them. */
  async produceWithBlobs(slot: Slot, parentRoot: RootHex, mark = 0): Promise<BlockWithSidecars> {
    const { block, blobsBundle } = await this.#produce(slot, parentRoot, mark);
    if (!blobsBundle) throw new Error(`The engine made no blobs for slot ${slot}.`);
    const made = this.sign(block);
    const sidecars = await this.#devChain.chain.data.sidecarsOf(made.signed, blobsBundle);
    return { ...made, sidecars: sidecars as HeaderSidecar[] };
  }

  /** Like the above, and imports it. */
  async proposeWithBlobs(slot: Slot, parentRoot: RootHex): Promise<BlockWithSidecars> {
    const { chain } = this.#devChain;
    const made = await this.produceWithBlobs(slot, parentRoot);
    chain.data.pool.add({ slot, root: made.root }, made.sidecars);
    await chain.importBlock(made.signed);
    return made;
  }

  /** The block with its state root recomputed after changes. */
  async withStateRoot(block: BeaconBlock): Promise<BeaconBlock> {
    const { states } = this.#devChain.chain;
    const preState = await states.afterBlock(toRootHex(block.parentRoot), block.slot);
    return { ...block, stateRoot: applyUnchecked(preState, block).hashTreeRoot() } as BeaconBlock;
  }

  /** Lets every attester of the slot attest to the block through the public API. */
  async attest(slot: Slot, blockRoot: RootHex): Promise<ValidatorIndex[]> {
    const attestations = await this.attestationsFor(slot, blockRoot);
    await this.#devChain.api.beacon.submitPoolAttestationsV2({
      signedAttestations: attestations.map(({ attestation }) => attestation),
    });
    return attestations.map(({ validator }) => validator);
  }

  /** The signed attestations of every attester of the slot to the block. */
  async attestationsFor(
    slot: Slot,
    blockRoot: RootHex,
  ): Promise<{ validator: ValidatorIndex; attestation: phase0.Attestation | SingleAttestation }[]> {
    const isElectra = this.#devChain.config.getForkSeq(slot) >= ForkSeq.electra;
    const { data, committees } = await this.#attestationData(slot, blockRoot);
    return committees.flatMap((committee, committeeIndex) => {
      const ofCommittee = { ...data, index: isElectra ? 0 : committeeIndex };
      return Array.from(committee, (validator, position) => {
        const signature = this.signAttestation(validator, ofCommittee);
        const attestation = isElectra
          ? { committeeIndex, attesterIndex: validator, data: ofCommittee, signature }
          : { aggregationBits: BitArray.fromSingleBit(committee.length, position), data: ofCommittee, signature };
        return { validator, attestation };
      });
    });
  }

  signAttestation(validator: ValidatorIndex, data: phase0.AttestationData): Uint8Array {
    return this.signer.sign(validator, this.#signingRoot(data));
  }

  /** The attestation with other data, signed again by the same attesters. */
  async withAttestationData(attestation: Attestation, changes: Partial<phase0.AttestationData>): Promise<Attestation> {
    const { config, chain } = this.#devChain;
    const { slot, beaconBlockRoot } = attestation.data;
    const state = await chain.states.afterBlock(toRootHex(beaconBlockRoot));
    const { attestingIndices } = state.epochCtx.getIndexedAttestation(config.getForkSeq(slot), attestation);
    const data = { ...attestation.data, ...changes };
    const signatures = Array.from(attestingIndices, (index) => this.signAttestation(index, data));
    return { ...attestation, data, signature: aggregateSerializedSignatures(signatures).toBytes() } as Attestation;
  }

  async #produce(slot: Slot, parentRoot: RootHex, mark: number): Promise<ProducedFullBlock> {
    const { chain } = this.#devChain;
    const preState = await chain.states.afterBlock(parentRoot, slot);
    return chain.producer.produce({
      slot,
      parentRoot,
      randaoReveal: this.signer.randaoReveal(preState.epochCtx.getBeaconProposer(slot), slot),
      graffiti: new Uint8Array(32).fill(mark),
      feeRecipient: new Uint8Array(20),
    });
  }

  #signingRoot(data: phase0.AttestationData): Uint8Array {
    return this.signer.signingRoot(ssz.phase0.AttestationData, data, DOMAIN_BEACON_ATTESTER, data.slot);
  }

  async #attestationData(slot: Slot, blockRoot: RootHex) {
    const { forkChoice, states } = this.#devChain.chain;
    const epoch = computeEpochAtSlot(slot);
    const targetRoot = forkChoice.ancestorAtSlot(blockRoot, computeStartSlotAtEpoch(epoch));
    if (targetRoot === undefined) throw new Error(`Block ${blockRoot} is not one that can be attested to.`);
    const state = await states.atCheckpoint({ epoch, root: targetRoot });
    const data: phase0.AttestationData = {
      slot,
      index: 0,
      beaconBlockRoot: fromHex(blockRoot),
      source: state.currentJustifiedCheckpoint.toValue(),
      target: { epoch, root: fromHex(targetRoot) },
    };
    const count = state.epochCtx.getCommitteeCountPerSlot(epoch);
    const committees = Array.from({ length: count }, (_, i) => state.epochCtx.getBeaconCommittee(slot, i));
    return { data, committees };
  }
}
