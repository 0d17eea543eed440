import type {
  Attestation,
  AttestationData,
  AttesterSlashing,
  ProposerSlashing,
  Root,
  Signature,
  SignedVoluntaryExit,
  Topic,
  Uint64,
} from "./methods.ts";

/** What is told of the topics that this node has events of, in the words of the standard API's event stream. */
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
}

/** An event of one of the topics. That of a topic beyond `EventData` is an object of its fork. */
export type ChainEvent<T extends Topic = Topic> = T extends keyof EventData
  ? { readonly topic: T; readonly data: EventData[T] }
  : { readonly topic: T; readonly data: object };
