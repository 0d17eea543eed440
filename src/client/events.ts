import type {
  Attestation,
  AttestationData,
  AttesterSlashing,
  Methods,
  ProposerSlashing,
  Root,
  Signature,
  SignedVoluntaryExit,
  Topic,
  Uint64,
} from "./methods.ts";

/** Event data by topic, as in the event stream of the Beacon API. */
export interface EventData {
  head: {
    slot: Uint64;
    block: Root;
    state: Root;
    epoch_transition: boolean;
    previous_duty_dependent_root: Root;
    current_duty_dependent_root: Root;
    execution_optimistic: boolean;
  };
  head_v2: OfFork<{
    slot: Uint64;
    block: Root;
    state: Root;
    payload_status: "empty" | "full";
    epoch_transition: boolean;
    current_epoch_dependent_root: Root;
    next_epoch_dependent_root: Root;
    execution_optimistic: boolean;
  }>;
  block: { slot: Uint64; block: Root; execution_optimistic: boolean };
  block_gossip: { slot: Uint64; block: Root };
  attestation: Attestation;
  single_attestation: {
    committee_index: Uint64;
    attester_index: Uint64;
    data: AttestationData;
    signature: Signature;
  };
  voluntary_exit: SignedVoluntaryExit;
  proposer_slashing: ProposerSlashing;
  attester_slashing: AttesterSlashing;
  bls_to_execution_change: {
    message: { validator_index: Uint64; from_bls_pubkey: string; to_execution_address: string };
    signature: Signature;
  };
  finalized_checkpoint: { block: Root; state: Root; epoch: Uint64; execution_optimistic: boolean };
  chain_reorg: {
    slot: Uint64;
    depth: Uint64;
    old_head_block: Root;
    new_head_block: Root;
    old_head_state: Root;
    new_head_state: Root;
    epoch: Uint64;
    execution_optimistic: boolean;
  };
  contribution_and_proof: {
    message: {
      aggregator_index: Uint64;
      contribution: ResultOf<"get_v1_validator_sync_committee_contribution">;
      selection_proof: Signature;
    };
    signature: Signature;
  };
  light_client_finality_update: OfFork<ResultOf<"get_v1_beacon_light_client_finality_update">>;
  light_client_optimistic_update: OfFork<ResultOf<"get_v1_beacon_light_client_optimistic_update">>;
  payload_attributes: OfFork<{
    proposer_index: Uint64;
    proposal_slot: Uint64;
    parent_block_number: Uint64;
    parent_block_root: Root;
    parent_block_hash: Root;
    payload_attributes: {
      timestamp: Uint64;
      prev_randao: Root;
      suggested_fee_recipient: string;
      /** From capella on. */
      withdrawals?: { index: Uint64; validator_index: Uint64; address: string; amount: Uint64 }[];
      /** From deneb on. */
      parent_beacon_block_root?: Root;
    };
  }>;
  blob_sidecar: { block_root: Root; index: Uint64; slot: Uint64; kzg_commitment: string; versioned_hash: Root };
  data_column_sidecar: { block_root: Root; index: Uint64; slot: Uint64; kzg_commitments: string[] };
}

type ResultOf<Name extends keyof Methods> = Awaited<ReturnType<Methods[Name]>>;

/** Data in the format of a fork, with the fork name. */
interface OfFork<Data> {
  version: string;
  data: Data;
}

/** Event of a topic. Topics without an entry in `EventData` carry an object. */
export type ChainEvent<T extends Topic = Topic> = T extends keyof EventData
  ? { readonly topic: T; readonly data: EventData[T] }
  : { readonly topic: T; readonly data: object };
