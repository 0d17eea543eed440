import type {
  Address,
  Attestation,
  AttesterSlashing,
  Bytes,
  ForkName,
  ProposerSlashing,
  Root,
  SignedBLSToExecutionChange,
  SignedContributionAndProof,
  SignedVoluntaryExit,
  SingleAttestation,
  Uint64,
  Versioned,
} from "./chain-types.ts";
import type { Topic } from "./methods.ts";

/** Event data by topic, as in the event stream of the Beacon API. */
export interface EventData<F extends ForkName = ForkName> {
  head: {
    slot: Uint64;
    block: Root;
    state: Root;
    epoch_transition: boolean;
    previous_duty_dependent_root: Root;
    current_duty_dependent_root: Root;
    execution_optimistic: boolean;
  };
  head_v2: OfFork<
    F,
    {
      slot: Uint64;
      block: Root;
      state: Root;
      payload_status: "empty" | "full";
      epoch_transition: boolean;
      current_epoch_dependent_root: Root;
      next_epoch_dependent_root: Root;
      execution_optimistic: boolean;
    }
  >;
  block: { slot: Uint64; block: Root; execution_optimistic: boolean };
  block_gossip: { slot: Uint64; block: Root };
  attestation: Attestation<F>;
  single_attestation: SingleAttestation;
  voluntary_exit: SignedVoluntaryExit;
  proposer_slashing: ProposerSlashing;
  attester_slashing: AttesterSlashing;
  bls_to_execution_change: SignedBLSToExecutionChange;
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
  contribution_and_proof: SignedContributionAndProof;
  light_client_finality_update: Versioned<"LightClientFinalityUpdate", F>;
  light_client_optimistic_update: Versioned<"LightClientOptimisticUpdate", F>;
  payload_attributes: OfFork<
    F,
    {
      proposer_index: Uint64;
      proposal_slot: Uint64;
      parent_block_number: Uint64;
      parent_block_root: Root;
      parent_block_hash: Root;
      payload_attributes: {
        timestamp: Uint64;
        prev_randao: Root;
        suggested_fee_recipient: Address;
        /** Present from capella on. */
        withdrawals?: { index: Uint64; validator_index: Uint64; address: Address; amount: Uint64 }[];
        /** Present from deneb on. */
        parent_beacon_block_root?: Root;
      };
    }
  >;
  blob_sidecar: { block_root: Root; index: Uint64; slot: Uint64; kzg_commitment: Bytes; versioned_hash: Root };
  data_column_sidecar: { block_root: Root; index: Uint64; slot: Uint64; kzg_commitments: Bytes[] };
}

/** Data labeled with the name of its fork. */
interface OfFork<F extends ForkName, Data> {
  version: F;
  data: Data;
}

/** Event for a topic. Topics without an entry in `EventData` carry an object. */
export type ChainEvent<T extends Topic = Topic, F extends ForkName = ForkName> = T extends keyof EventData
  ? { readonly topic: T; readonly data: EventData<F>[T] }
  : { readonly topic: T; readonly data: object };
