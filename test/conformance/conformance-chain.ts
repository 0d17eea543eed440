import type { Type } from "@chainsafe/ssz";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  ForkName,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import { type AggregateAndProof, type AttesterSlashing, ssz, sszTypesFor } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { type Api, createApi } from "../../src/api/api.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { LocalNode } from "../../src/network/local-node.ts";
import { noNetwork } from "../../src/network/network-view.ts";
import { openNodeKey } from "../../src/network/node-key.ts";
import { ByHand } from "../support/by-hand.ts";
import { Caller } from "../support/caller.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/dev-chain.ts";
import { networkWith, PEERS } from "../support/peers.ts";
import { SignedOperations } from "../support/signed-operations.ts";
import { GOSSIP_PEERS, PENDING_FUTURE } from "./surroundings.ts";

export type TestedFork = ForkName.phase0 | ForkName.fulu;

/** The last slot with a block of the dev chain's own making; two of its epochs before it are final. */
const HISTORY_SLOTS = 5 * SLOTS_PER_EPOCH;
const VALIDATORS = 16;

type Json = Record<string, unknown>;

interface SyncDuty {
  validator_index: string;
  validator_sync_committee_indices: string[];
}

/**
 * A finalized dev chain that stands still in the slot after its last block, and all that a caller needs to take part: the
 * keys of its validators, and objects that they sign. Peers and futures are made up, so that there are some to show.
 */
export class ConformanceChain {
  readonly fork: TestedFork;
  readonly api: Api;
  readonly caller: Caller;
  readonly byHand: ByHand;
  readonly operations: SignedOperations;
  /** The current slot, which has no block. */
  readonly slot = HISTORY_SLOTS + 1;
  readonly epoch = Math.floor(this.slot / SLOTS_PER_EPOCH);
  readonly validatorCount = VALIDATORS;
  readonly #opened: OpenedDevChain;

  static async open(fork: TestedFork): Promise<ConformanceChain> {
    const forks = fork === ForkName.phase0 ? [] : [{ fork, epoch: 0 }];
    const opened = await startQuietDevChain(HISTORY_SLOTS, { validators: VALIDATORS, forks });
    const { devChain, db } = opened;
    await devChain.clock.advanceTo(HISTORY_SLOTS + 1);
    const node = new LocalNode({ key: await openNodeKey(db), config: devChain.config, clock: devChain.clock });
    const network = { ...networkWith(PEERS, noNetwork(node)), gossipPeers: () => GOSSIP_PEERS };
    const { setSpec } = createLogger({ format: "text", spec: "WARN", destination: { write: () => {} } });
    const futures = { pending: () => [PENDING_FUTURE] };
    const api = createApi({ chain: devChain.chain, network, setLogSpec: setSpec, futures });
    return new ConformanceChain(fork, opened, api);
  }

  private constructor(fork: TestedFork, opened: OpenedDevChain, api: Api) {
    this.fork = fork;
    this.#opened = opened;
    this.api = api;
    this.caller = new Caller(api);
    this.byHand = new ByHand(opened.devChain);
    this.operations = new SignedOperations(opened.devChain);
  }

  get chain() {
    return this.#opened.devChain.chain;
  }

  /** Warnings and errors that the chain has logged. */
  get complaints(): readonly string[] {
    return this.#opened.complaints;
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  pubkey(index: number): string {
    return toHex(this.#opened.devChain.keys.publicKey(index)!);
  }

  async randaoReveal(): Promise<string> {
    const duties = await this.caller.call("get_v1_validator_duties_proposer", [this.epoch]);
    const proposer = Number(duties[this.slot % SLOTS_PER_EPOCH].validator_index);
    return toHex(this.byHand.signer.randaoReveal(proposer, this.slot));
  }

  /** A block of the current slot; on the second call the same one. */
  signedBlock(): Promise<Json> {
    this.#block ??= this.#makeBlock();
    return this.#block;
  }
  #block: Promise<Json> | undefined;

  async #makeBlock(): Promise<Json> {
    const { signed } = this.byHand.sign(await this.byHand.produce(this.slot, this.chain.head.root));
    const json = sszTypesFor(this.fork).SignedBeaconBlock.toJson(signed as never) as Json;
    return this.fork === ForkName.phase0 ? json : { signed_block: json, kzg_proofs: [], blobs: [] };
  }

  /** The votes of the slot's committee for the head. */
  async attestations(): Promise<Json[]> {
    const votes = await this.byHand.votesFor(this.slot, this.chain.head.root);
    const type = this.fork === ForkName.phase0 ? ssz.phase0.Attestation : ssz.electra.SingleAttestation;
    return votes.map(({ vote }) => (type as Type<unknown>).toJson(vote) as Json);
  }

  async attestationData(): Promise<Json> {
    const [attestation] = await this.attestations();
    return attestation!.data as Json;
  }

  async attestationDataRoot(): Promise<string> {
    const data = ssz.phase0.AttestationData.fromJson(await this.attestationData());
    return toHex(ssz.phase0.AttestationData.hashTreeRoot(data));
  }

  /** Of what the pool holds for the slot; every member of so small a committee may aggregate. */
  async signedAggregate(): Promise<Json> {
    const [vote] = await this.byHand.votesFor(this.slot, this.chain.head.root);
    const root = await this.attestationDataRoot();
    const aggregate = await this.caller.call("get_v2_validator_aggregate_attestation", [this.slot, root, 0]);
    const { signer } = this.byHand;
    const aggregatorIndex = vote!.validator;
    const proofRoot = signer.signingRoot(ssz.Slot, this.slot, DOMAIN_SELECTION_PROOF, this.slot);
    const { AggregateAndProof } = sszTypesFor(this.fork);
    const type = AggregateAndProof as Type<AggregateAndProof>;
    const message = type.fromJson({
      aggregator_index: String(aggregatorIndex),
      aggregate,
      selection_proof: toHex(signer.sign(aggregatorIndex, proofRoot)),
    });
    const signingRoot = signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, this.slot);
    return { message: type.toJson(message), signature: toHex(signer.sign(aggregatorIndex, signingRoot)) };
  }

  voluntaryExit(validator: number): Json {
    return ssz.phase0.SignedVoluntaryExit.toJson(this.operations.exit(validator, { epoch: 4 })) as Json;
  }

  proposerSlashing(validator: number): Json {
    return ssz.phase0.ProposerSlashing.toJson(this.operations.doubleProposal(validator, 1)) as Json;
  }

  attesterSlashing(...validators: number[]): Json {
    const type = sszTypesFor(this.fork).AttesterSlashing as Type<AttesterSlashing>;
    return type.toJson(this.operations.doubleVote(validators, 1)) as Json;
  }

  credentialsChange(validator: number): Json {
    const change = this.operations.credentialsChange(validator, new Uint8Array(20).fill(7));
    return ssz.capella.SignedBLSToExecutionChange.toJson(change) as Json;
  }

  /** The block before the current slot without its payload; before bellatrix that is the block itself. */
  blindedBlock(): Promise<Json> {
    return this.caller.call("get_v1_beacon_blinded_blocks_blockId", [this.slot - 1]);
  }

  subscription(): Json {
    return {
      validator_index: "1",
      committee_index: "0",
      committees_at_slot: "1",
      slot: String(this.slot),
      is_aggregator: true,
    };
  }

  /** What a validator would tell a builder. Nobody checks the signature before a builder does. */
  registration(): Json {
    const message = { fee_recipient: `0x${"ab".repeat(20)}`, gas_limit: "1", timestamp: "1", pubkey: this.pubkey(1) };
    return { message, signature: `0x${"00".repeat(96)}` };
  }

  /** Part of a distributed validator's selection proof, as good as any where there is nobody to combine it. */
  selection(): Json {
    return { validator_index: "1", slot: String(this.slot), selection_proof: `0x${"00".repeat(96)}` };
  }

  /** Every member of the sync committee signs the head; in phase0, which has none, somebody does. */
  async syncMessages(): Promise<Json[]> {
    const beaconBlockRoot = fromHex(this.chain.head.root);
    const { signer } = this.byHand;
    const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, this.slot);
    const duties = this.fork === ForkName.phase0 ? [{ validator_index: "0" }] : await this.#syncDuties();
    return duties.map(({ validator_index }) => {
      const validatorIndex = Number(validator_index);
      const signature = signer.sign(validatorIndex, signingRoot);
      const message = { slot: this.slot, beaconBlockRoot, validatorIndex, signature };
      return ssz.altair.SyncCommitteeMessage.toJson(message) as Json;
    });
  }

  /** Of a subcommittee that has messages; every member of so small a one may aggregate. Phase0 has none, only the form. */
  async signedContribution(): Promise<Json> {
    const { signer } = this.byHand;
    const { SyncAggregatorSelectionData, ContributionAndProof, SignedContributionAndProof } = ssz.altair;
    if (this.fork === ForkName.phase0) {
      return SignedContributionAndProof.toJson(SignedContributionAndProof.defaultValue()) as Json;
    }
    const { aggregatorIndex, subcommitteeIndex } = await this.syncCommitteeSeat();
    const selection = { slot: this.slot, subcommitteeIndex };
    const domain = DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF;
    const proofRoot = signer.signingRoot(SyncAggregatorSelectionData, selection, domain, this.slot);
    const params = [this.slot, subcommitteeIndex, this.chain.head.root];
    const message = ContributionAndProof.fromJson({
      aggregator_index: String(aggregatorIndex),
      contribution: await this.caller.call("get_v1_validator_sync_committee_contribution", params),
      selection_proof: toHex(signer.sign(aggregatorIndex, proofRoot)),
    });
    const signingRoot = signer.signingRoot(ContributionAndProof, message, DOMAIN_CONTRIBUTION_AND_PROOF, this.slot);
    const signature = signer.sign(aggregatorIndex, signingRoot);
    return SignedContributionAndProof.toJson({ message, signature }) as Json;
  }

  async syncCommitteeSeat(): Promise<{ aggregatorIndex: number; subcommitteeIndex: number }> {
    const [duty] = await this.#syncDuties();
    const [seat] = duty!.validator_sync_committee_indices;
    return {
      aggregatorIndex: Number(duty!.validator_index),
      subcommitteeIndex: Math.floor(Number(seat) / SYNC_COMMITTEE_SUBNET_SIZE),
    };
  }

  #syncDuties(): Promise<SyncDuty[]> {
    const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
    return this.caller.call("post_v1_validator_duties_sync_epoch", [this.epoch, everybody]);
  }
}
