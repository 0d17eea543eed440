import { BitArray } from "@chainsafe/ssz";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_SYNC_COMMITTEE,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_COUNT,
} from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type BeaconBlock, type electra, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { deserializeSignedBlock, serializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { attestationDataOn, stateToAttestOn } from "../../src/chain/production/attestation-data.ts";
import { BlockProducer, type ProducedFullBlock } from "../../src/chain/production/block-producer.ts";
import { blockRequest } from "../../src/chain/production/block-request.ts";
import { PayloadBuilder } from "../../src/chain/production/payload-builder.ts";
import { subcommitteeMembers } from "../../src/chain/validation/sync-committee-at.ts";
import { ValidatorSigner } from "../../src/dev/validators/signer.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import type { PipelineImport } from "../import/pipeline-import.ts";
import { numberedSecretKey } from "./numbered-keys.ts";

const { logger: SILENT } = createLogger({ format: "text", spec: "FATAL", destination: { write: () => {} } });

/** All validators of the chain. They propose, and attest to the head. */
export class Crowd {
  readonly #chain: BeaconChain;
  readonly #signer: ValidatorSigner;
  readonly #elsewhere: BlockProducer;

  constructor({ chain, engine }: PipelineImport) {
    this.#chain = chain;
    const { config, states, pools, eth1, clock, forkChoice } = chain;
    this.#elsewhere = new BlockProducer({
      config,
      // Does not share the caches of the chain's states.
      states: { afterBlock: async (root, slot) => (await states.afterBlock(root, slot, { keep: false })).clone(true) },
      engine,
      pools,
      eth1,
      payloadBuilder: new PayloadBuilder({ config, engine, forkChoice, clock, logger: SILENT, doubtHead: () => {} }),
    });
    this.#signer = new ValidatorSigner(chain.config, { indices: [], secretKey: numberedSecretKey });
  }

  /** Produces the block of the slot. */
  produceBy(producer: BlockProducer, slot: Slot): Promise<ProducedFullBlock> {
    const chain = this.#chain;
    const parentRoot = chain.head.root;
    // The head state has the proposers of the next epoch too.
    const proposer = chain.headState.epochCtx.getBeaconProposer(slot);
    const randaoReveal = this.#signer.randaoReveal(proposer, slot);
    return producer.produce(blockRequest(chain, proposer, { slot, parentRoot, randaoReveal }));
  }

  /** Returns the signed block of the slot as if received from another node. */
  async receive(slot: Slot): Promise<SignedBeaconBlock> {
    const { config } = this.#chain;
    const { block, root } = await this.produceBy(this.#elsewhere, slot);
    // A received block has no cached hashes.
    return deserializeSignedBlock(
      config,
      serializeSignedBlock(config, { message: block, signature: this.#sign(block, root) }),
    );
  }

  /** Signs and imports a block that the chain produced. */
  async publish({ block, root }: ProducedFullBlock): Promise<void> {
    await this.#chain.importBlock({ message: block, signature: this.#sign(block, root) });
  }

  #sign({ proposerIndex, slot }: BeaconBlock, root: RootHex): Uint8Array {
    const signingRoot = this.#signer.signingRoot(ssz.Root, fromHex(root), DOMAIN_BEACON_PROPOSER, slot);
    return this.#signer.sign(proposerIndex, signingRoot);
  }

  /** Attests with all committees of the slot except the first, and with the sync committee. */
  async voteJointly(slot: Slot): Promise<void> {
    const chain = this.#chain;
    const fork = chain.config.getForkName(slot);
    const { state, data, signingRoot, committees } = await this.#ballot(slot);
    const dataRoot = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
    committees.forEach((committee, committeeIndex) => {
      if (committeeIndex === 0) return;
      const attestingIndices = Array.from(committee);
      const signature = this.#signer.signAggregate(attestingIndices, signingRoot);
      const bits = allOf(committee.length);
      chain.processor.ownAttestation({
        data,
        dataRoot,
        committeeIndex,
        committee,
        bits,
        attestingIndices,
        signature: signature.sign().toBytes(),
        fork,
      });
    });
    this.#voteInSyncCommittee(slot, state);
  }

  /** Single attestations of the first committee of the slot. */
  async singleVotes(slot: Slot): Promise<electra.SingleAttestation[]> {
    const { data, signingRoot, committees } = await this.#ballot(slot);
    return Array.from(committees[0]!, (attesterIndex) => ({
      committeeIndex: 0,
      attesterIndex,
      data,
      signature: this.#signer.sign(attesterIndex, signingRoot),
    }));
  }

  async #ballot(slot: Slot) {
    const { states, head } = this.#chain;
    const state = await stateToAttestOn(states, { slot, blockRoot: head.root });
    const data = attestationDataOn(state, { slot, blockRoot: head.root, committeeIndex: 0 });
    const signingRoot = this.#signer.signingRoot(ssz.phase0.AttestationData, data, DOMAIN_BEACON_ATTESTER, slot);
    const committees = state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
    return { state, data, signingRoot, committees };
  }

  #voteInSyncCommittee(slot: Slot, state: CachedBeaconStateAllForks): void {
    const beaconBlockRoot = fromHex(this.#chain.head.root);
    const signingRoot = this.#signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, slot);
    const committee = state.epochCtx.getIndexedSyncCommittee(slot);
    for (let subcommitteeIndex = 0; subcommitteeIndex < SYNC_COMMITTEE_SUBNET_COUNT; subcommitteeIndex++) {
      const members = Array.from(subcommitteeMembers(committee, subcommitteeIndex));
      const signature = this.#signer.signAggregate(members, signingRoot).sign().toBytes();
      const aggregationBits = allOf(members.length);
      const contribution = { slot, beaconBlockRoot, subcommitteeIndex, aggregationBits, signature };
      this.#chain.processor.ownContribution(contribution, members);
    }
  }
}

function allOf(length: number): BitArray {
  return BitArray.fromBoolArray(new Array<boolean>(length).fill(true));
}
