import { VALIDATOR_STATUSES } from "../json/validator-status.ts";
import { ETH_OBJECTS } from "./eth-schemas.ts";
import { PAYLOAD_OBJECTS } from "./payload-schemas.ts";
import { PROOF_OBJECTS } from "./proofs/proof-schemas.ts";
import {
  boolean,
  described,
  either,
  isTrue,
  type JsonSchema,
  list,
  number,
  object,
  oneOf,
  reference,
  text,
} from "./schema-builders.ts";

export * from "./schema-builders.ts";

/** The result of submissions. */
export const ACCEPTED = { name: "accepted", schema: isTrue };

const hex = (bytes: number): JsonSchema => ({ type: "string", pattern: `^0x[0-9a-f]{${2 * bytes}}$` });

const SCALARS = {
  Uint64: described({ type: "string", pattern: "^(0|[1-9][0-9]*)$" }, "An integer of 64 bits, as a decimal string."),
  Root: described(hex(32), "32 bytes: a hash tree root or another hash."),
  Version: described(hex(4), "The version of a fork."),
  Address: described({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" }, "An execution address."),
  Pubkey: described(hex(48), "A BLS public key."),
  Signature: described(hex(96), "A BLS signature."),
  Bits: described({ type: "string", pattern: "^0x([0-9a-f]{2})*$" }, "A list or vector of bits in its SSZ form."),
  ValidatorStatus: {
    type: "string",
    enum: [...VALIDATOR_STATUSES],
  },
} satisfies Record<string, JsonSchema>;

const uint64 = reference("Uint64");
const root = reference("Root");
const version = reference("Version");
const pubkey = reference("Pubkey");
const signature = reference("Signature");
const bits = reference("Bits");
const checkpoint = reference("Checkpoint");
const eth1Data = reference("Eth1Data");
const attestation = reference("Attestation");

const signedHeader = reference("SignedBeaconBlockHeader");
const address = reference("Address");
const bytes = reference("Bytes");
const branch = list(root);

const ATTESTATION_MEMBERS = { aggregation_bits: bits, data: reference("AttestationData"), signature };

const BLOCK_MEMBERS = { slot: uint64, proposer_index: uint64, parent_root: root, state_root: root };

const OPTIMISTIC_UPDATE_MEMBERS = {
  attested_header: reference("LightClientHeader"),
  sync_aggregate: reference("SyncAggregate"),
  signature_slot: uint64,
};
const FINALITY_UPDATE_MEMBERS = {
  ...OPTIMISTIC_UPDATE_MEMBERS,
  finalized_header: reference("LightClientHeader"),
  finality_branch: branch,
};

const CHAIN_OBJECTS = {
  Checkpoint: object({ epoch: uint64, root }),
  Fork: object({ previous_version: version, current_version: version, epoch: uint64 }),
  Validator: object({
    pubkey,
    withdrawal_credentials: root,
    effective_balance: uint64,
    slashed: boolean,
    activation_eligibility_epoch: uint64,
    activation_epoch: uint64,
    exit_epoch: uint64,
    withdrawable_epoch: uint64,
  }),
  StateValidator: object({
    index: uint64,
    balance: uint64,
    status: reference("ValidatorStatus"),
    validator: reference("Validator"),
  }),
  Eth1Data: object({ deposit_root: root, deposit_count: uint64, block_hash: root }),
  DepositData: object({ pubkey, withdrawal_credentials: root, amount: uint64, signature }),
  Deposit: object({ proof: list(root), data: reference("DepositData") }),
  AttestationData: object({
    slot: uint64,
    index: uint64,
    beacon_block_root: root,
    source: checkpoint,
    target: checkpoint,
  }),
  Attestation: described(
    oneOf(reference("AttestationPhase0"), reference("AttestationElectra")),
    "Format depends on the fork of the slot.",
  ),
  AttestationPhase0: described(
    { ...object(ATTESTATION_MEMBERS), not: { required: ["committee_bits"] } },
    "Before electra. `data.index` is the committee index.",
  ),
  AttestationElectra: described(
    object({ ...ATTESTATION_MEMBERS, committee_bits: bits }),
    "From electra on. `data.index` is 0; `committee_bits` names the committees.",
  ),
  SingleAttestation: described(
    object({ committee_index: uint64, attester_index: uint64, data: reference("AttestationData"), signature }),
    "Attestation of a single validator, from electra on.",
  ),
  SignedAggregateAndProof: object({
    message: object({ aggregator_index: uint64, aggregate: attestation, selection_proof: signature }),
    signature,
  }),
  IndexedAttestation: object({ attesting_indices: list(uint64), data: reference("AttestationData"), signature }),
  AttesterSlashing: object({
    attestation_1: reference("IndexedAttestation"),
    attestation_2: reference("IndexedAttestation"),
  }),
  BeaconBlockHeader: object({ ...BLOCK_MEMBERS, body_root: root }),
  SignedBeaconBlockHeader: object({ message: reference("BeaconBlockHeader"), signature }),
  ProposerSlashing: object({
    signed_header_1: signedHeader,
    signed_header_2: signedHeader,
  }),
  SignedVoluntaryExit: object({ message: object({ epoch: uint64, validator_index: uint64 }), signature }),
  BeaconBlockBody: described(
    object({
      randao_reveal: signature,
      eth1_data: eth1Data,
      graffiti: root,
      proposer_slashings: list(reference("ProposerSlashing")),
      attester_slashings: list(reference("AttesterSlashing")),
      attestations: list(attestation),
      deposits: list(reference("Deposit")),
      voluntary_exits: list(reference("SignedVoluntaryExit")),
    }),
    "Later forks add members.",
  ),
  BeaconBlock: object({ ...BLOCK_MEMBERS, body: reference("BeaconBlockBody") }),
  SignedBeaconBlock: object({ message: reference("BeaconBlock"), signature }),
  BlindedBeaconBlock: described(
    object({ ...BLOCK_MEMBERS, body: reference("BeaconBlockBody") }),
    "From bellatrix on with execution_payload_header instead of execution_payload.",
  ),
  SignedBlindedBeaconBlock: object({ message: reference("BlindedBeaconBlock"), signature }),
  SignedBLSToExecutionChange: object({
    message: object({ validator_index: uint64, from_bls_pubkey: pubkey, to_execution_address: address }),
    signature,
  }),
  DepositRequest: object({ pubkey, withdrawal_credentials: root, amount: uint64, signature, index: uint64 }),
  WithdrawalRequest: object({ source_address: address, validator_pubkey: pubkey, amount: uint64 }),
  ConsolidationRequest: object({ source_address: address, source_pubkey: pubkey, target_pubkey: pubkey }),
  SyncAggregate: object({ sync_committee_bits: bits, sync_committee_signature: signature }),
  SyncCommittee: object({ pubkeys: list(pubkey), aggregate_pubkey: pubkey }),
  BlobSidecar: object({
    index: uint64,
    blob: bytes,
    kzg_commitment: bytes,
    kzg_proof: bytes,
    signed_block_header: signedHeader,
    kzg_commitment_inclusion_proof: branch,
  }),
  DataColumnSidecar: object({
    index: uint64,
    column: list(bytes),
    kzg_commitments: list(bytes),
    kzg_proofs: list(bytes),
    signed_block_header: signedHeader,
    kzg_commitments_inclusion_proof: branch,
  }),
  LightClientHeader: described(
    object({ beacon: reference("BeaconBlockHeader") }, { execution: { type: "object" }, execution_branch: branch }),
    "From capella on with the execution payload header and its proof.",
  ),
  LightClientBootstrap: object({
    header: reference("LightClientHeader"),
    current_sync_committee: reference("SyncCommittee"),
    current_sync_committee_branch: branch,
  }),
  LightClientOptimisticUpdate: object(OPTIMISTIC_UPDATE_MEMBERS),
  LightClientFinalityUpdate: object(FINALITY_UPDATE_MEMBERS),
  LightClientUpdate: object({
    ...FINALITY_UPDATE_MEMBERS,
    next_sync_committee: reference("SyncCommittee"),
    next_sync_committee_branch: branch,
  }),
  BeaconState: described(
    object({
      genesis_time: uint64,
      genesis_validators_root: root,
      slot: uint64,
      fork: reference("Fork"),
      latest_block_header: reference("BeaconBlockHeader"),
      block_roots: list(root),
      state_roots: list(root),
      historical_roots: list(root),
      eth1_data: eth1Data,
      eth1_data_votes: list(eth1Data),
      eth1_deposit_index: uint64,
      validators: list(reference("Validator")),
      balances: list(uint64),
      randao_mixes: list(root),
      slashings: list(uint64),
      justification_bits: bits,
      previous_justified_checkpoint: checkpoint,
      current_justified_checkpoint: checkpoint,
      finalized_checkpoint: checkpoint,
    }),
    "Members common to all forks. The state has those of its fork too.",
  ),
} satisfies Record<string, JsonSchema>;

const API_OBJECTS = {
  BlockHeader: object({ root, canonical: boolean, header: reference("SignedBeaconBlockHeader") }),
  Committee: object({ index: uint64, slot: uint64, validators: list(uint64) }),
  AttesterDuty: object({
    pubkey,
    validator_index: uint64,
    committee_index: uint64,
    committee_length: uint64,
    committees_at_slot: uint64,
    validator_committee_index: uint64,
    slot: uint64,
  }),
  ProposerDuty: object({ pubkey, validator_index: uint64, slot: uint64 }),
  ChainPosition: described(
    object({
      slot: described(uint64, "Current slot."),
      epoch: uint64,
      head_slot: uint64,
      head_block_root: root,
      justified_epoch: uint64,
      finalized_epoch: uint64,
      speed: described(number, "Seconds of chain time per second of real time; 0 while the clock is paused."),
    }),
    "Clock, head and checkpoints of a dev chain.",
  ),
  Peer: object({
    peer_id: text,
    enr: either(text, { type: "null" }),
    last_seen_p2p_address: text,
    state: { type: "string", enum: ["disconnected", "connecting", "connected", "disconnecting"] },
    direction: { type: "string", enum: ["inbound", "outbound"] },
  }),
} satisfies Record<string, JsonSchema>;

/** Schemas of results, by name. */
export const NAMED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...SCALARS,
  ...CHAIN_OBJECTS,
  ...API_OBJECTS,
  ...PAYLOAD_OBJECTS,
  ...PROOF_OBJECTS,
  ...ETH_OBJECTS,
};

type ShapeName =
  | keyof typeof SCALARS
  | keyof typeof CHAIN_OBJECTS
  | keyof typeof API_OBJECTS
  | keyof typeof PAYLOAD_OBJECTS
  | keyof typeof PROOF_OBJECTS
  | keyof typeof ETH_OBJECTS;

export function shape(name: ShapeName): JsonSchema {
  return reference(name);
}
