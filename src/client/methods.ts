// Made by "npm run docs" from the definitions of the methods. Changes here are lost: make them there.
import type { CallOptions } from "./call-options.ts";

/** An integer of 64 bits, as a decimal string. */
export type Uint64 = string;

/** 32 bytes: a hash tree root or another hash. */
export type Root = string;

/** The version of a fork. */
export type Version = string;

/** An execution address. */
export type Address = string;

/** A BLS public key. */
export type Pubkey = string;

/** A BLS signature. */
export type Signature = string;

/** A list or vector of bits in its SSZ form. */
export type Bits = string;

export type ValidatorStatus =
  | "pending_initialized"
  | "pending_queued"
  | "active_ongoing"
  | "active_exiting"
  | "active_slashed"
  | "exited_unslashed"
  | "exited_slashed"
  | "withdrawal_possible"
  | "withdrawal_done";

export type Checkpoint = { epoch: Uint64; root: Root };

export type Fork = { previous_version: Version; current_version: Version; epoch: Uint64 };

export type Validator = {
  pubkey: Pubkey;
  withdrawal_credentials: Root;
  effective_balance: Uint64;
  slashed: boolean;
  activation_eligibility_epoch: Uint64;
  activation_epoch: Uint64;
  exit_epoch: Uint64;
  withdrawable_epoch: Uint64;
};

export type StateValidator = { index: Uint64; balance: Uint64; status: ValidatorStatus; validator: Validator };

export type Eth1Data = { deposit_root: Root; deposit_count: Uint64; block_hash: Root };

export type DepositData = { pubkey: Pubkey; withdrawal_credentials: Root; amount: Uint64; signature: Signature };

export type Deposit = { proof: Array<Root>; data: DepositData };

export type AttestationData = {
  slot: Uint64;
  index: Uint64;
  beacon_block_root: Root;
  source: Checkpoint;
  target: Checkpoint;
};

/** In the form of the fork of its slot. */
export type Attestation = unknown;

/** Before electra: its data names the committee. */
export type AttestationPhase0 = { aggregation_bits: Bits; data: AttestationData; signature: Signature };

/** From electra on: the index in its data is 0. */
export type AttestationElectra = {
  aggregation_bits: Bits;
  data: AttestationData;
  signature: Signature;
  committee_bits: Bits;
};

/** How one validator attests from electra on. */
export type SingleAttestation = {
  committee_index: Uint64;
  attester_index: Uint64;
  data: AttestationData;
  signature: Signature;
};

export type SignedAggregateAndProof = {
  message: { aggregator_index: Uint64; aggregate: Attestation; selection_proof: Signature };
  signature: Signature;
};

export type IndexedAttestation = { attesting_indices: Array<Uint64>; data: AttestationData; signature: Signature };

export type AttesterSlashing = { attestation_1: IndexedAttestation; attestation_2: IndexedAttestation };

export type BeaconBlockHeader = {
  slot: Uint64;
  proposer_index: Uint64;
  parent_root: Root;
  state_root: Root;
  body_root: Root;
};

export type SignedBeaconBlockHeader = { message: BeaconBlockHeader; signature: Signature };

export type ProposerSlashing = { signed_header_1: SignedBeaconBlockHeader; signed_header_2: SignedBeaconBlockHeader };

export type SignedVoluntaryExit = { message: { epoch: Uint64; validator_index: Uint64 }; signature: Signature };

/** With the members that the block's fork adds. */
export type BeaconBlockBody = {
  randao_reveal: Signature;
  eth1_data: Eth1Data;
  graffiti: Root;
  proposer_slashings: Array<ProposerSlashing>;
  attester_slashings: Array<AttesterSlashing>;
  attestations: Array<Attestation>;
  deposits: Array<Deposit>;
  voluntary_exits: Array<SignedVoluntaryExit>;
};

export type BeaconBlock = {
  slot: Uint64;
  proposer_index: Uint64;
  parent_root: Root;
  state_root: Root;
  body: BeaconBlockBody;
};

export type SignedBeaconBlock = { message: BeaconBlock; signature: Signature };

/** With the members that the state's fork has besides. */
export type BeaconState = {
  genesis_time: Uint64;
  genesis_validators_root: Root;
  slot: Uint64;
  fork: Fork;
  latest_block_header: BeaconBlockHeader;
  block_roots: Array<Root>;
  state_roots: Array<Root>;
  historical_roots: Array<Root>;
  eth1_data: Eth1Data;
  eth1_data_votes: Array<Eth1Data>;
  eth1_deposit_index: Uint64;
  validators: Array<Validator>;
  balances: Array<Uint64>;
  randao_mixes: Array<Root>;
  slashings: Array<Uint64>;
  justification_bits: Bits;
  previous_justified_checkpoint: Checkpoint;
  current_justified_checkpoint: Checkpoint;
  finalized_checkpoint: Checkpoint;
};

export type BlockHeader = { root: Root; canonical: boolean; header: SignedBeaconBlockHeader };

export type Committee = { index: Uint64; slot: Uint64; validators: Array<Uint64> };

export type AttesterDuty = {
  pubkey: Pubkey;
  validator_index: Uint64;
  committee_index: Uint64;
  committee_length: Uint64;
  committees_at_slot: Uint64;
  validator_committee_index: Uint64;
  slot: Uint64;
};

export type ProposerDuty = { pubkey: Pubkey; validator_index: Uint64; slot: Uint64 };

export type Peer = {
  peer_id: string;
  enr: string | null;
  last_seen_p2p_address: string;
  state: "disconnected" | "connecting" | "connected" | "disconnecting";
  direction: "inbound" | "outbound";
};

/** An integer in hex without leading zeros. */
export type Quantity = string;

/** Bytes in hex. */
export type Bytes = string;

export type EthLog = {
  address: Address;
  topics: Array<Root>;
  data: Bytes;
  blockNumber: Quantity;
  blockHash: Root;
  blockTimestamp: Quantity;
  transactionHash: Root;
  transactionIndex: Quantity;
  logIndex: Quantity;
  removed: boolean;
};

/** A signed transaction. Its place in a block is null while it is pending. */
export type EthTransaction = {
  blockHash: Root | null;
  blockNumber: Quantity | null;
  transactionIndex: Quantity | null;
  from: Address;
  hash: Root;
  type: Quantity;
  nonce: Quantity;
  to: Address | null;
  gas: Quantity;
  value: Quantity;
  input: Bytes;
  gasPrice: Quantity;
  r: Quantity;
  s: Quantity;
  v: Quantity;
  blockTimestamp?: Quantity;
  chainId?: Quantity;
  yParity?: Quantity;
  maxFeePerGas?: Quantity;
  maxPriorityFeePerGas?: Quantity;
  maxFeePerBlobGas?: Quantity;
  blobVersionedHashes?: Array<Root>;
  accessList?: Array<{ address: Address; storageKeys: Array<Root> }>;
  authorizationList?: Array<{
    chainId: Quantity;
    address: Address;
    nonce: Quantity;
    yParity: Quantity;
    r: Quantity;
    s: Quantity;
  }>;
};

export type EthReceipt = {
  type: Quantity;
  transactionHash: Root;
  transactionIndex: Quantity;
  blockHash: Root;
  blockNumber: Quantity;
  from: Address;
  to: Address | null;
  cumulativeGasUsed: Quantity;
  gasUsed: Quantity;
  contractAddress: Address | null;
  logs: Array<EthLog>;
  logsBloom: Bytes;
  status: Quantity;
  effectiveGasPrice: Quantity;
  blobGasUsed?: Quantity;
  blobGasPrice?: Quantity;
};

/** An execution block. A pending one has neither hash, nonce nor miner. */
export type EthBlock = {
  number: Quantity;
  hash: Root | null;
  parentHash: Root;
  nonce: Bytes | null;
  mixHash: Root;
  sha3Uncles: Root;
  logsBloom: Bytes;
  transactionsRoot: Root;
  stateRoot: Root;
  receiptsRoot: Root;
  miner: Address | null;
  difficulty: Quantity;
  extraData: Bytes;
  gasLimit: Quantity;
  gasUsed: Quantity;
  timestamp: Quantity;
  baseFeePerGas: Quantity;
  size: Quantity;
  transactions: Array<Root> | Array<EthTransaction>;
  uncles: Array<Root>;
  withdrawalsRoot?: Root;
  withdrawals?: Array<{ index: Quantity; validatorIndex: Quantity; address: Address; amount: Quantity }>;
  blobGasUsed?: Quantity;
  excessBlobGas?: Quantity;
  parentBeaconBlockRoot?: Root;
  requestsHash?: Root;
};

/** What can be subscribed to. */
export type Topic =
  | "head"
  | "head_v2"
  | "block"
  | "block_gossip"
  | "attestation"
  | "single_attestation"
  | "voluntary_exit"
  | "proposer_slashing"
  | "attester_slashing"
  | "bls_to_execution_change"
  | "finalized_checkpoint"
  | "chain_reorg"
  | "contribution_and_proof"
  | "light_client_optimistic_update"
  | "light_client_finality_update"
  | "payload_attributes"
  | "blob_sidecar"
  | "data_column_sidecar"
  | "execution_payload"
  | "execution_payload_gossip"
  | "execution_payload_available"
  | "execution_payload_bid"
  | "proposer_preferences"
  | "payload_attestation_message"
  | "fast_confirmation";

/** Every method of a node, by its name; parameters go by theirs. */
export interface Methods {
  /** Time, validators root and fork version of the chain's genesis. */
  get_v1_beacon_genesis(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ genesis_time: Uint64; genesis_validators_root: Root; genesis_fork_version: Version }>;
  /** The hash tree root of a state. */
  get_v1_beacon_states_root(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<{ root: Root }>;
  /** Another name of get_v1_beacon_states_root. */
  get_v1_beacon_states_stateId_root: Methods["get_v1_beacon_states_root"];
  /** The fork of a state. */
  get_v1_beacon_states_fork(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Fork>;
  /** Another name of get_v1_beacon_states_fork. */
  get_v1_beacon_states_stateId_fork: Methods["get_v1_beacon_states_fork"];
  /** The justified and finalized checkpoints of a state. */
  get_v1_beacon_states_finality_checkpoints(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<{ previous_justified: Checkpoint; current_justified: Checkpoint; finalized: Checkpoint }>;
  /** Another name of get_v1_beacon_states_finality_checkpoints. */
  get_v1_beacon_states_stateId_finality_checkpoints: Methods["get_v1_beacon_states_finality_checkpoints"];
  /** Validators of a state with their balances and statuses, by index. */
  get_v1_beacon_states_stateId_validators(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      id?: Array<string | number>;
      /** Statuses or status groups of the validators. Default: all. */
      status?: Array<
        | "pending_initialized"
        | "pending_queued"
        | "active_ongoing"
        | "active_exiting"
        | "active_slashed"
        | "exited_unslashed"
        | "exited_slashed"
        | "withdrawal_possible"
        | "withdrawal_done"
        | "pending"
        | "active"
        | "exited"
        | "withdrawal"
      >;
    },
    options?: CallOptions,
  ): Promise<Array<StateValidator>>;
  /** A validator of a state with its balance and status. */
  get_v1_beacon_states_stateId_validators_validatorId(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validator index or public key. */
      validator_id: string | number;
    },
    options?: CallOptions,
  ): Promise<StateValidator>;
  /** Validator balances of a state, by index. */
  get_v1_beacon_states_stateId_validator_balances(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      id?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; balance: Uint64 }>>;
  /** Beacon committees of an epoch, by slot and index. */
  get_v1_beacon_states_stateId_committees_epoch(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Epoch. Default: the epoch of the state. */
      epoch?: string | number;
      /** Index of the committees. */
      index?: string | number;
      /** Slot of the committees, which must be in the epoch. */
      slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Committee>>;
  /** Another name of get_v1_beacon_states_stateId_committees_epoch. */
  get_v1_beacon_states_stateId_committees: Methods["get_v1_beacon_states_stateId_committees_epoch"];
  /** Headers of the blocks of a slot or of the children of a block. Default: the slot of the head. */
  get_v1_beacon_headers(
    params?: {
      /** Only blocks of this slot. */
      slot?: string | number;
      /** Only blocks whose parent has this root. */
      parent_root?: string;
    },
    options?: CallOptions,
  ): Promise<Array<BlockHeader>>;
  /** The signed header of a block, its root, and whether it is canonical. */
  get_v1_beacon_headers_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<BlockHeader>;
  /** Publishes a signed block. Returns 200 if it was broadcast and imported, 202 if it was only broadcast. */
  post_v1_beacon_blocks(
    params: {
      /** A signed block of the fork of its slot; from deneb to fulu wrapped with its blobs. */
      signed_block: object;
    },
    options?: CallOptions,
  ): Promise<200 | 202>;
  /** A signed block. */
  get_v1_beacon_blocks_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<SignedBeaconBlock>;
  /** Another name of get_v1_beacon_blocks_blockId. */
  get_v2_beacon_blocks_blockId: Methods["get_v1_beacon_blocks_blockId"];
  /** The root of a block. */
  get_v1_beacon_blocks_blockId_root(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<{ root: Root }>;
  /** The attestations in a block. */
  get_v1_beacon_blocks_blockId_attestations(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Like get_v1_beacon_states_stateId_validators, for any number of ids. */
  post_v1_beacon_states_stateId_validators(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Ids and statuses of the validators. Default: all. */
      filter: object;
    },
    options?: CallOptions,
  ): Promise<Array<StateValidator>>;
  /** Like get_v1_beacon_states_stateId_validator_balances, for any number of ids. */
  post_v1_beacon_states_stateId_validator_balances(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; balance: Uint64 }>>;
  /** Indices, public keys and activation epochs of validators, by index. */
  post_v1_beacon_states_stateId_validator_identities(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; pubkey: Pubkey; activation_epoch: Uint64 }>>;
  /** Members of a sync committee, in total and by subcommittee; from altair on. */
  get_v1_beacon_states_stateId_sync_committees(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Epoch. Default: the epoch of the state. */
      epoch?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ validators: Array<Uint64>; validator_aggregates: Array<Array<Uint64>> }>;
  /** The RANDAO mix of an epoch in a state. */
  get_v1_beacon_states_stateId_randao(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Epoch. Default: the epoch of the state. */
      epoch?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ randao: Root }>;
  /** Pending consolidations of a state; from electra on. */
  get_v1_beacon_states_stateId_pending_consolidations(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ source_index: Uint64; target_index: Uint64 }>>;
  /** Pending deposits of a state; from electra on. */
  get_v1_beacon_states_stateId_pending_deposits(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<
    Array<{ pubkey: Pubkey; withdrawal_credentials: Root; amount: Uint64; signature: Signature; slot: Uint64 }>
  >;
  /** Pending partial withdrawals of a state; from electra on. */
  get_v1_beacon_states_stateId_pending_partial_withdrawals(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; amount: Uint64; withdrawable_epoch: Uint64 }>>;
  /** Proposers of the state's epoch and the next one, by slot; from fulu on. */
  get_v1_beacon_states_stateId_proposer_lookahead(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Uint64>>;
  /** Publishes a signed block. Returns 200 if it was broadcast and imported, 202 if it was only broadcast. */
  post_v2_beacon_blocks(
    params: {
      /** A signed block of the fork of its slot; from deneb to fulu wrapped with its blobs. */
      signed_block_or_contents: object;
      /** Validation that the block must pass before it is broadcast; otherwise it is rejected. Default: gossip. */
      broadcast_validation?: "gossip" | "consensus" | "consensus_and_equivocation";
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<200 | 202>;
  /** Publishes a signed blinded block, whose payload was built by the node or comes from its builder. Returns 200 if it was broadcast and imported, 202 if it was only broadcast. From fulu on the builder broadcasts its blocks: 202. */
  post_v2_beacon_blinded_blocks(
    params: {
      /** A signed blinded block of the fork of its slot. */
      signed_blinded_block: object;
      /** Validation that the block must pass before it is broadcast; otherwise it is rejected. Default: gossip. */
      broadcast_validation?: "gossip" | "consensus" | "consensus_and_equivocation";
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<200 | 202>;
  /** Another name of post_v2_beacon_blinded_blocks. */
  post_v1_beacon_blinded_blocks: Methods["post_v2_beacon_blinded_blocks"];
  /** A signed blinded block, with the header of its payload; before bellatrix the block identity. */
  get_v1_beacon_blinded_blocks_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<SignedBeaconBlock>;
  /** The attestations in a block, with their fork as metadata. */
  get_v2_beacon_blocks_blockId_attestations(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** The blobs of a block in the order of its commitments; none before deneb. From fulu on they are reconstructed from data columns, of which the node needs half. */
  get_v1_beacon_blobs_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Versioned hashes of the blobs. Default: all. */
      versioned_hashes?: Array<string>;
    },
    options?: CallOptions,
  ): Promise<Array<string>>;
  /** The blob sidecars of a block; none before deneb. From fulu on they are reconstructed from data columns, of which the node needs half. */
  get_v1_beacon_blob_sidecars_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Indices of the blobs; those that the block does not have are ignored. Default: all. */
      indices?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<object>>;
  /** Withdrawals that a block on top of a state must include; from capella on. */
  get_v1_builder_states_stateId_expected_withdrawals(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Slot of the block, at most 2 epochs after the state. Default: the slot after the state. */
      proposal_slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; validator_index: Uint64; address: Address; amount: Uint64 }>>;
  /** Rewards of a block's proposer by kind. Phase0 pays proposers for attestations later, as part of the attestation rewards of their epoch. */
  get_v1_beacon_rewards_blocks_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    proposer_index: Uint64;
    total: Uint64;
    attestations: Uint64;
    sync_aggregate: Uint64;
    proposer_slashings: Uint64;
    attester_slashings: Uint64;
  }>;
  /** Rewards and penalties of the sync committee members for a block; none before altair. */
  post_v1_beacon_rewards_sync_committee_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Validators by index or public key. Default: all. */
      validator_ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      validator_index: Uint64;
      /** Amount in Gwei; penalties are negative. */
      reward: string;
    }>
  >;
  /** Rewards and penalties of validators for their attestations in an epoch, and the ideal rewards by effective balance. */
  post_v1_beacon_rewards_attestations_epoch(
    params: {
      /** Epoch of the attestations. The last slot of the next epoch must be over or have a block. */
      epoch: string | number;
      /** Validators by index or public key. Default: all. */
      validator_ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<{
    ideal_rewards: Array<{
      effective_balance: Uint64;
      /** Amount in Gwei; penalties are negative. */
      head: string;
      /** Amount in Gwei; penalties are negative. */
      target: string;
      /** Amount in Gwei; penalties are negative. */
      source: string;
      /** Amount in Gwei; penalties are negative. */
      inactivity: string;
      inclusion_delay?: Uint64;
    }>;
    total_rewards: Array<{
      validator_index: Uint64;
      /** Amount in Gwei; penalties are negative. */
      head: string;
      /** Amount in Gwei; penalties are negative. */
      target: string;
      /** Amount in Gwei; penalties are negative. */
      source: string;
      /** Amount in Gwei; penalties are negative. */
      inactivity: string;
      inclusion_delay?: Uint64;
    }>;
  }>;
  /** Snapshot of the finalized deposit tree (EIP-4881). */
  get_v1_beacon_deposit_snapshot(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    finalized: Array<Root>;
    deposit_root: Root;
    deposit_count: Uint64;
    execution_block_hash: Root;
    execution_block_height: Uint64;
  }>;
  /** The builders of a state. Unsupported: requires gloas. */
  post_v1_beacon_states_stateId_builders(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Ids and statuses of the builders. Default: all. */
      filter?: object;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Submits a builder's bid. Unsupported: requires gloas. */
  post_v1_beacon_execution_payload_bids(
    params: {
      /** Bid signed by its builder. */
      signed_bid: object;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Publishes an execution payload envelope. Unsupported: requires gloas. */
  post_v1_beacon_execution_payload_envelopes(
    params: {
      /** Envelope signed by its builder, optionally with blobs. */
      signed_envelope_or_contents: object;
      /** Validation that it must pass before it is broadcast. */
      broadcast_validation?: "gossip" | "consensus" | "consensus_and_equivocation";
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
      /** True if the blobs are included. */
      blob_data_included?: boolean;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** The signed execution payload envelope of a block. Unsupported: requires gloas. */
  get_v1_beacon_execution_payload_envelopes_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Payload attestations in the pool. Unsupported: requires gloas. */
  get_v1_beacon_pool_payload_attestations(
    params?: {
      /** Slot of the attestations. */
      slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Submits payload attestations. Unsupported: requires gloas. */
  post_v1_beacon_pool_payload_attestations(
    params: {
      /** The signed attestations. */
      messages: Array<object>;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Submits unaggregated attestations. Each is validated on its own. */
  post_v1_beacon_pool_attestations(
    params: {
      /** Attestations with a single aggregation bit; from electra on SingleAttestation objects. */
      attestations: object | Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attester slashings in the pool, until they are included in a finalized block. */
  get_v1_beacon_pool_attester_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<AttesterSlashing>>;
  /** Submits an attester slashing. */
  post_v1_beacon_pool_attester_slashings(
    params: {
      attester_slashing: AttesterSlashing;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Proposer slashings in the pool, until they are included in a finalized block. */
  get_v1_beacon_pool_proposer_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<ProposerSlashing>>;
  /** Submits a proposer slashing. */
  post_v1_beacon_pool_proposer_slashings(
    params: {
      proposer_slashing: ProposerSlashing;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Voluntary exits in the pool, until they are included in a finalized block. */
  get_v1_beacon_pool_voluntary_exits(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<SignedVoluntaryExit>>;
  /** Submits a signed voluntary exit. */
  post_v1_beacon_pool_voluntary_exits(
    params: {
      signed_voluntary_exit: SignedVoluntaryExit;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attestations in the pool, each in the format of its fork. */
  get_v1_beacon_pool_attestations(
    params?: {
      /** Slot of the attestations. */
      slot?: string | number;
      /** Committee index of the attestations. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Attestations in the pool, all in the format of one fork. */
  get_v2_beacon_pool_attestations(
    params?: {
      /** Slot of the attestations, which also selects the fork. Default: the fork of the current slot. */
      slot?: string | number;
      /** Committee index of the attestations. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Submits unaggregated attestations. Each is validated on its own. */
  post_v2_beacon_pool_attestations(
    params: {
      /** Attestations with a single aggregation bit; from electra on SingleAttestation objects. */
      attestations: Array<object>;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attester slashings in the pool, until they are included in a finalized block. */
  get_v2_beacon_pool_attester_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<AttesterSlashing>>;
  /** Submits an attester slashing. */
  post_v2_beacon_pool_attester_slashings(
    params: {
      attester_slashing: AttesterSlashing;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<true>;
  /** BLS to execution changes in the pool, until they are included in a finalized block; none before capella. */
  get_v1_beacon_pool_bls_to_execution_changes(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    Array<{
      message: { validator_index: Uint64; from_bls_pubkey: Pubkey; to_execution_address: Address };
      signature: Signature;
    }>
  >;
  /** Submits BLS to execution changes. Each is validated on its own. From capella on. */
  post_v1_beacon_pool_bls_to_execution_changes(
    params: {
      /** Changes, each signed with the validator's BLS withdrawal key. */
      signed_changes: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Network identity of the node: peer id, ENR, addresses and metadata. */
  get_v1_node_identity(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    peer_id: string;
    enr: string;
    p2p_addresses: Array<string>;
    discovery_addresses: Array<string>;
    metadata: { seq_number: Uint64; attnets: Bits; syncnets: Bits; custody_group_count?: Uint64 };
  }>;
  /** Known peers, optionally filtered by connection state and direction. */
  get_v1_node_peers(
    params?: {
      /** Connection states of the peers. */
      state?: Array<"disconnected" | "connecting" | "connected" | "disconnecting">;
      /** Connection directions of the peers. */
      direction?: Array<"inbound" | "outbound">;
    },
    options?: CallOptions,
  ): Promise<Array<Peer>>;
  /** A known peer. */
  get_v1_node_peers_peerId(
    params: {
      /** Peer id in base58btc, or as a CIDv1 in base32. */
      peer_id: string;
    },
    options?: CallOptions,
  ): Promise<Peer>;
  /** Number of peers by connection state. */
  get_v1_node_peer_count(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ disconnected: Uint64; connecting: Uint64; connected: Uint64; disconnecting: Uint64 }>;
  /** The node's name, version and platform. */
  get_v1_node_version(params?: Record<string, never>, options?: CallOptions): Promise<{ version: string }>;
  /** Sync status of the node, with the distance of its head to the current slot. */
  get_v1_node_syncing(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    head_slot: Uint64;
    sync_distance: Uint64;
    is_syncing: boolean;
    is_optimistic: boolean;
    el_offline: boolean;
  }>;
  /** Health of the node as an HTTP status: 200 if it is ready, 206 if it is syncing. */
  get_v1_node_health(
    params?: {
      /** Status to return instead of 206 while syncing. */
      syncing_status?: number;
    },
    options?: CallOptions,
  ): Promise<{ health: number }>;
  /** Versions of the node and of its execution client, if known. */
  get_v2_node_version(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    beacon_node: { code: string; name: string; version: string; commit: string };
    execution_client?: { code: string; name: string; version: string; commit: string };
  }>;
  /** Readiness of the node and of its parts. REST responds with 200 if it is ready and 503 if not. */
  getReadiness(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    ready: boolean;
    warmed_up: boolean;
    synced: boolean;
    database_writable: boolean;
    execution_online: boolean;
  }>;
  /** Attester duties of validators in an epoch. */
  get_v1_validator_duties_attester(
    params: {
      /** Epoch of the duties, at most one after the current epoch. */
      epoch: string | number;
      /** Validator public keys or indices. */
      validators: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<AttesterDuty>>;
  /** Attester duties of validators in an epoch. */
  post_v1_validator_duties_attester(
    params: {
      /** Epoch of the duties, at most one after the current epoch. */
      epoch: string | number;
      /** Validator public keys or indices. */
      validators: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<AttesterDuty>>;
  /** Another name of post_v1_validator_duties_attester. */
  post_v1_validator_duties_attester_epoch: Methods["post_v1_validator_duties_attester"];
  /** Proposer duties of an epoch. */
  get_v1_validator_duties_proposer(
    params: {
      /** Epoch of the duties, at most one after the current epoch. */
      epoch: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<ProposerDuty>>;
  /** Another name of get_v1_validator_duties_proposer. */
  get_v1_validator_duties_proposer_epoch: Methods["get_v1_validator_duties_proposer"];
  /** A new block on the head for its proposer to sign. */
  get_v1_validator_block(
    params: {
      /** Slot of the block, after the head: the current slot, or up to two epochs after the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex. Default: the graffiti of setGraffiti. */
      graffiti?: string;
      /** Accepts the point at infinity as the reveal. */
      skip_randao_verification?: boolean;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock | { block: BeaconBlock; kzg_proofs: Array<string>; blobs: Array<string> }>;
  /** Another name of get_v1_validator_block. */
  get_v2_validator_blocks_slot: Methods["get_v1_validator_block"];
  /** Another name of get_v1_validator_block. */
  get_v1_validator_blocks_slot: Methods["get_v1_validator_block"];
  /** Publishes a signed block. Returns true if it was broadcast and imported. */
  post_v1_validator_block(
    params: {
      /** A signed block of the fork of its slot; from deneb to fulu wrapped with its blobs. */
      signed_block: object;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attestation data for the members of a committee to sign. */
  get_v1_validator_attestation_data(
    params: {
      /** Slot of the attestation, at most one after the current slot. */
      slot: string | number;
      /** Committee index. Optional from electra on. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<AttestationData>;
  /** Alias of get_v1_validator_attestation_data. */
  get_v1_validator_attestation(
    params: {
      /** Slot of the attestation, at most one after the current slot. */
      slot: string | number;
      /** Committee index. Optional from electra on. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<AttestationData>;
  /** The best aggregate for some attestation data. */
  get_v1_validator_aggregate_attestation(
    params: {
      /** Slot of the attestation data. */
      slot: string | number;
      /** Hash tree root of the attestation data. */
      attestation_data_root: string;
      /** Committee index. Required from electra on if the slot has several committees. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** Like get_v1_validator_aggregate_attestation; also accepts an AttestationData instead of slot and root. The result has no proof. */
  get_v1_validator_aggregate_and_proof(
    params: {
      /** Slot of the attestation data. */
      slot: string | number;
      /** Hash tree root of the attestation data. */
      attestation_data_root: string;
      /** Committee index. Required from electra on if the slot has several committees. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** Submits aggregates, each signed by its aggregator. */
  post_v1_validator_aggregate_and_proofs(
    params: {
      /** Signed aggregates in the format of their slot's fork. */
      signed_aggregates: SignedAggregateAndProof | Array<SignedAggregateAndProof>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Alias of post_v1_validator_aggregate_and_proofs. */
  post_v1_validator_aggregate_and_proof(
    params: {
      /** Signed aggregates in the format of their slot's fork. */
      signed_aggregates: SignedAggregateAndProof | Array<SignedAggregateAndProof>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Subscribes validators to the subnets of their beacon committees. */
  post_v1_validator_beacon_committee_subscriptions(
    params: {
      /** Subscriptions, one per validator and slot. */
      subscriptions: object | Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Sync committee duties of validators in an epoch. */
  post_v1_validator_duties_sync_epoch(
    params: {
      /** Epoch of the duties, at most in the next sync committee period. */
      epoch: string | number;
      /** Validator indices or public keys. */
      validator_indices: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ pubkey: Pubkey; validator_index: Uint64; validator_sync_committee_indices: Array<Uint64> }>>;
  /** Another name of post_v1_validator_duties_sync_epoch. */
  post_v1_validator_duties_sync: Methods["post_v1_validator_duties_sync_epoch"];
  /** Proposer duties of an epoch, with the dependent root of one epoch earlier. */
  get_v2_validator_duties_proposer_epoch(
    params: {
      /** Epoch of the duties, at most one after the current epoch. */
      epoch: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<ProposerDuty>>;
  /** Another name of get_v2_validator_duties_proposer_epoch. */
  get_v2_validator_duties_proposer: Methods["get_v2_validator_duties_proposer_epoch"];
  /** Liveness of validators in an epoch, as observed by the node. */
  post_v1_validator_liveness_epoch(
    params: {
      /** The current or the previous epoch. */
      epoch: string | number;
      /** Validator indices. */
      validator_indices: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; is_live: boolean }>>;
  /** Another name of post_v1_validator_liveness_epoch. */
  post_v1_validator_liveness: Methods["post_v1_validator_liveness_epoch"];
  /** A new block on the head for its proposer to sign, with its value as metadata. It is blinded if a builder's bid is worth more than the local payload. */
  get_v3_validator_blocks_slot(
    params: {
      /** Slot of the block, after the head: the current slot, or up to two epochs after the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex. Default: the graffiti of setGraffiti. */
      graffiti?: string;
      /** Accepts the point at infinity as the reveal. */
      skip_randao_verification?: boolean;
      /** Weight of builder bids against the local payload in percent: 0 always prefers the local payload, 2^64-1 the builder. Default: --builder-boost-factor. */
      builder_boost_factor?: string | number;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock | { block: BeaconBlock; kzg_proofs: Array<string>; blobs: Array<string> }>;
  /** Another name of get_v3_validator_blocks_slot. */
  get_v3_validator_block: Methods["get_v3_validator_blocks_slot"];
  /** A new blinded block, with the header of a local or builder payload; before bellatrix a full block. */
  get_v1_validator_blinded_blocks_slot(
    params: {
      /** Slot of the block, after the head: the current slot, or up to two epochs after the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex. Default: the graffiti of setGraffiti. */
      graffiti?: string;
      /** Accepts the point at infinity as the reveal. */
      skip_randao_verification?: boolean;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock>;
  /** The best aggregate of a committee for some attestation data. */
  get_v2_validator_aggregate_attestation(
    params: {
      /** Slot of the attestation data. */
      slot: string | number;
      /** Hash tree root of the attestation data. */
      attestation_data_root: string;
      /** Committee index. */
      committee_index: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** Submits aggregates, each signed by its aggregator. */
  post_v2_validator_aggregate_and_proofs(
    params: {
      /** Signed aggregates in the format of their slot's fork. */
      signed_aggregates: Array<SignedAggregateAndProof>;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Submits sync committee messages. Each is validated on its own. */
  post_v1_beacon_pool_sync_committees(
    params: {
      /** The signed messages. */
      messages: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** The best contribution of a sync subcommittee for a block. */
  get_v1_validator_sync_committee_contribution(
    params: {
      /** Slot of the sync committee messages. */
      slot: string | number;
      /** Subcommittee index. */
      subcommittee_index: string | number;
      /** Root of the signed block. */
      beacon_block_root: string;
    },
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    beacon_block_root: Root;
    subcommittee_index: Uint64;
    aggregation_bits: Bits;
    signature: Signature;
  }>;
  /** Submits sync committee contributions, each signed by its aggregator. */
  post_v1_validator_contribution_and_proofs(
    params: {
      /** The signed contributions. */
      signed_contributions: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Sets the fee recipients of validators for this epoch and the next two. */
  post_v1_validator_prepare_beacon_proposer(
    params: {
      /** Preparations, one per validator. */
      preparations: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Registers validators with builders. Each registration is validated on its own and forwarded to the node's builder, if any. */
  post_v1_validator_register_validator(
    params: {
      /** Registrations, one per validator. */
      signed_registrations: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Subscribes validators to the subnets of their sync subcommittees. */
  post_v1_validator_sync_committee_subscriptions(
    params: {
      /** Subscriptions, one per validator. */
      subscriptions: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Combines selection proofs of distributed validators. Unsupported: only for their middleware. */
  post_v1_validator_beacon_committee_selections(
    params: {
      /** Partial selection proofs. */
      selections: Array<object>;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; slot: Uint64; selection_proof: Signature }>>;
  /** Combines sync committee selection proofs of distributed validators. Unsupported: only for their middleware. */
  post_v1_validator_sync_committee_selections(
    params: {
      /** Partial selection proofs. */
      selections: Array<object>;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; slot: Uint64; subcommittee_index: Uint64; selection_proof: Signature }>>;
  /** Duties of the payload timeliness committee. Unsupported: requires gloas. */
  post_v1_validator_duties_ptc_epoch(
    params: {
      /** The epoch of the duties. */
      epoch: string | number;
      /** The validators. */
      validator_indices: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Another name of post_v1_validator_duties_ptc_epoch. */
  post_v1_validator_duties_ptc: Methods["post_v1_validator_duties_ptc_epoch"];
  /** A new block without its payload. Unsupported: requires gloas. */
  get_v4_validator_blocks_slot(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex. */
      graffiti?: string;
      /** Accepts the point at infinity as the reveal. */
      skip_randao_verification?: boolean;
      /** True to include the payload. */
      include_payload?: boolean;
      /** Weight of builder bids, in percent. */
      builder_boost_factor?: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Another name of get_v4_validator_blocks_slot. */
  get_v4_validator_block: Methods["get_v4_validator_blocks_slot"];
  /** Payload attestation data to sign. Unsupported: requires gloas. */
  get_v1_validator_payload_attestation_data(
    params: {
      /** The slot of the payload. */
      slot: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Submits proposer preferences for builders. Unsupported: requires gloas. */
  post_v1_validator_proposer_preferences(
    params: {
      /** Preferences, one per proposal. */
      signed_preferences: Array<object>;
      /** Fork of the object. Default: the fork of its slot. */
      consensus_version?:
        | "phase0"
        | "altair"
        | "bellatrix"
        | "capella"
        | "deneb"
        | "electra"
        | "fulu"
        | "gloas"
        | "heze";
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** A builder's bid to sign. Unsupported: requires gloas. */
  get_v1_validator_execution_payload_bids_slot_builderIndex(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The builder. */
      builder_index: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** An execution payload envelope to sign. Unsupported: requires gloas. */
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The block. */
      beacon_block_root: string;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** All scheduled forks, past and future. */
  get_v1_config_fork_schedule(params?: Record<string, never>, options?: CallOptions): Promise<Array<Fork>>;
  /** Constants, preset and configuration of the chain. */
  get_v1_config_spec(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Record<string, string | Array<unknown>>>;
  /** Chain and address of the deposit contract. */
  get_v1_config_deposit_contract(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ chain_id: Uint64; address: Address }>;
  /** Like get_v1_config_spec, with the preset constants also under lowercase names. */
  getSpecPreset(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Record<string, string | Array<unknown>>>;
  /** A full state. */
  get_v1_debug_beacon_states_stateId(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<BeaconState>;
  /** Another name of get_v1_debug_beacon_states_stateId. */
  get_v2_debug_beacon_states_stateId: Methods["get_v1_debug_beacon_states_stateId"];
  /** Leaves of the fork choice tree, with their payload status. */
  get_v2_debug_beacon_heads(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ root: Root; slot: Uint64; execution_optimistic: boolean }>>;
  /** Leaves of the fork choice tree. */
  get_v1_debug_beacon_heads(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ root: Root; slot: Uint64 }>>;
  /** Checkpoints and blocks of fork choice, with their weights in Gwei. */
  get_v1_debug_fork_choice(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    justified_checkpoint: Checkpoint;
    finalized_checkpoint: Checkpoint;
    fork_choice_nodes: Array<{
      slot: Uint64;
      block_root: Root;
      parent_root: Root;
      justified_epoch: Uint64;
      finalized_epoch: Uint64;
      weight: Uint64;
      validity: "valid" | "invalid" | "optimistic";
      execution_block_hash: Root;
    }>;
  }>;
  /** The data column sidecars of a block that the node has; none before fulu. */
  get_v1_debug_beacon_data_column_sidecars_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Column indices; those that the node does not have are ignored. Default: all. */
      indices?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<object>>;
  /** The slot of the head block. */
  getBeaconHead(params?: Record<string, never>, options?: CallOptions): Promise<Uint64>;
  /** Slots and roots of the head block and of the justified and finalized checkpoints of fork choice. */
  getChainHead(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    head_slot: Uint64;
    head_block_root: Root;
    finalized_slot: Uint64;
    finalized_block_root: Root;
    justified_slot: Uint64;
    justified_block_root: Root;
  }>;
  /** The node's name, version and platform as one string. */
  getNodeVersion(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Connected peers with their identify data and scores. */
  peers(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    peers: Array<{
      id: string;
      info: {
        peerId: string;
        addrs: Array<string>;
        protocols: Array<string>;
        protoVersion: string;
        agentVersion: string;
      };
      connectionState: string;
      score: number;
    }>;
  }>;
  /** Returns true if the node is syncing. */
  getSyncing(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** The node's own peer id. */
  getNetworkPeerId(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** The peer ids of the connected peers. */
  getNetworkPeers(params?: Record<string, never>, options?: CallOptions): Promise<Array<string>>;
  /** The node's own ENR as text. */
  getNetworkEnr(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** The signed block of a slot or root; null if there is none. */
  getBeaconBlock(
    params?: {
      /** Slot of a canonical block, or any other block id. */
      slot?: string | number;
      /** Root of a block, if no slot is given. */
      root?: string;
    },
    options?: CallOptions,
  ): Promise<SignedBeaconBlock | null>;
  /** The state of a slot or root; null if there is none. */
  getBeaconState(
    params?: {
      /** Slot of the canonical chain, or any other state id. */
      slot?: string | number;
      /** Root of a state, if no slot is given. */
      root?: string;
    },
    options?: CallOptions,
  ): Promise<BeaconState | null>;
  /** Sets the log levels of the whole process, effective immediately. */
  setLogLevel(
    params: {
      /** A level, then KEY:topic,topic parts separated by ;. */
      log_spec: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Sets the default graffiti of produced blocks. */
  setGraffiti(
    params: {
      /** At most 32 bytes of text or hex. */
      graffiti: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Candidate blocks of the deposit chain for eth1 votes, oldest first. */
  getEth1Chain(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ number: Uint64; timestamp: Uint64; deposits: Array<DepositData>; voteData: Eth1Data }>>;
  /** The eth1 vote and the deposits for a block of the current slot. */
  getEth1ProposalData(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ vote: Eth1Data; deposits: Array<Deposit>; hasMissingDeposits: boolean }>;
  /** Pending promises of the process. Requires --track-futures. */
  debug_getChronosFutures(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ id: string; child_id: string; procname: string; filename: string; line: number; state: string }>>;
  /** Another name of debug_getChronosFutures. */
  getChronosFutures: Methods["debug_getChronosFutures"];
  /** The peers of each gossip topic, with their scores and statistics. */
  debug_getGossipSubPeers(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    gossipsub: Record<string, Array<{ peerId: string; score: number }>>;
    mesh: Record<string, Array<{ peerId: string; score: number }>>;
    colocationPeers: Array<Record<string, Array<string>>>;
    peerStats: Array<{ peerId: string; null: boolean; connected: boolean; expire: string; score: number }>;
    allPeers: Array<{ connected: boolean; peerId: string }>;
  }>;
  /** Another name of debug_getGossipSubPeers. */
  getGossipSubPeers: Methods["debug_getGossipSubPeers"];
  /** Number of validators in the head state, their stake, and the share of it that votes. */
  getParticipation(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    epoch: Uint64;
    validators: Uint64;
    active_validators: Uint64;
    active_balance: Uint64;
    /** Share of the active balance with included attestations in this epoch. */
    current_epoch: number;
    /** The same for the previous epoch; null in the first epoch. */
    previous_epoch: number | null;
    /** Share of the sync committee that signed the parent of the head; null before altair. */
    sync_committee: number | null;
  }>;
  /** Chain time and wall-clock time. They are equal on a network; a dev chain has its own time. */
  getChainTime(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** Unix seconds of the chain's clock, with milliseconds. */ chain_time: string;
    /** Unix seconds of the system clock, with milliseconds. */
    wall_time: string;
    /** Seconds by which chain time is ahead of the system clock; negative if it is behind. */
    offset: string;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
    slot: Uint64;
    wall_slot: Uint64;
    /** In chain time. Before genesis: seconds to the first slot. */
    seconds_to_next_slot: string;
  }>;
  /** The light client bootstrap of a trusted block: its sync committee, with a proof. */
  get_v1_beacon_light_client_bootstrap_blockRoot(
    params: {
      /** Root of a canonical block of altair or later. */
      block_root: string;
    },
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the execution payload header and its proof. */
    header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    current_sync_committee: { pubkeys: Array<Pubkey>; aggregate_pubkey: Pubkey };
    current_sync_committee_branch: Array<Root>;
  }>;
  /** The best light client updates of consecutive sync committee periods, each with its fork. */
  get_v1_beacon_light_client_updates(
    params: {
      /** First sync committee period. */
      start_period: string | number;
      /** Number of periods. At most 128 are returned. */
      count: string | number;
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      version: string;
      data: {
        /** From capella on with the execution payload header and its proof. */
        attested_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
        sync_aggregate: { sync_committee_bits: Bits; sync_committee_signature: Signature };
        signature_slot: Uint64;
        /** From capella on with the execution payload header and its proof. */
        finalized_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
        finality_branch: Array<Root>;
        next_sync_committee: { pubkeys: Array<Pubkey>; aggregate_pubkey: Pubkey };
        next_sync_committee_branch: Array<Root>;
      };
    }>
  >;
  /** The latest light client finality update. */
  get_v1_beacon_light_client_finality_update(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the execution payload header and its proof. */
    attested_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    sync_aggregate: { sync_committee_bits: Bits; sync_committee_signature: Signature };
    signature_slot: Uint64;
    /** From capella on with the execution payload header and its proof. */
    finalized_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    finality_branch: Array<Root>;
  }>;
  /** The latest light client optimistic update. */
  get_v1_beacon_light_client_optimistic_update(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the execution payload header and its proof. */
    attested_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    sync_aggregate: { sync_committee_bits: Bits; sync_committee_signature: Signature };
    signature_slot: Uint64;
  }>;
  /** Merkle proof of parts of a state, against the state root or the root of its block. */
  getStateProof(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Path of field names and element indices, or a generalized index; for a multiproof an array of up to 128 of these. The length of a list is at "length". */
      path: Array<string | number | Array<string | number>> | number | string;
      /** Root that the proof is verified against. Default: state. */
      up_to?: "state" | "block";
    },
    options?: CallOptions,
  ): Promise<
    | {
        root: Root;
        slot: Uint64;
        state_root: Root;
        /** Null for the state of a slot without a block. */
        block_root: Root | null;
        /** Timestamp by which the contract of EIP-4788 returns the root of the block: that of the payload in the block's canonical child. Null if there is no such child yet, and before deneb. */
        timestamp: Uint64 | null;
        gindex: Uint64;
        depth: Uint64;
        index: Uint64;
        leaf: Root;
        /** Sibling nodes from the leaf up. */
        branch: Array<Root>;
        /** The proven value as JSON; null if it is larger than 1024 bytes or not a field. */
        value: unknown;
        /** First byte of the value in the leaf; null if the leaf is the hash tree root of the value. */
        offset: Uint64 | null;
        /** Position of a bit in that byte, from the least significant. */
        bit: Uint64 | null;
      }
    | {
        root: Root;
        slot: Uint64;
        state_root: Root;
        /** Null for the state of a slot without a block. */
        block_root: Root | null;
        /** Timestamp by which the contract of EIP-4788 returns the root of the block: that of the payload in the block's canonical child. Null if there is no such child yet, and before deneb. */
        timestamp: Uint64 | null;
        /** Unique leaves, by descending generalized index. */
        leaves: Array<{ gindex: Uint64; leaf: Root }>;
        /** Other nodes needed to compute the root, by descending generalized index. */
        witnesses: Array<{ gindex: Uint64; node: Root }>;
        /** In the order of the request. */
        values: Array<{
          gindex: Uint64;
          /** The proven value as JSON; null if it is larger than 1024 bytes or not a field. */
          value: unknown;
          /** First byte of the value in the leaf; null if the leaf is the hash tree root of the value. */
          offset: Uint64 | null;
          /** Position of a bit in that byte, from the least significant. */
          bit: Uint64 | null;
        }>;
      }
  >;
  /** Merkle proof of parts of a block without its signature, against the block root. */
  getBlockProof(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Path of field names and element indices, or a generalized index; for a multiproof an array of up to 128 of these. The length of a list is at "length". */
      path: Array<string | number | Array<string | number>> | number | string;
    },
    options?: CallOptions,
  ): Promise<
    | {
        root: Root;
        slot: Uint64;
        state_root: Root;
        block_root: Root;
        /** Timestamp by which the contract of EIP-4788 returns the root of the block: that of the payload in the block's canonical child. Null if there is no such child yet, and before deneb. */
        timestamp: Uint64 | null;
        gindex: Uint64;
        depth: Uint64;
        index: Uint64;
        leaf: Root;
        /** Sibling nodes from the leaf up. */
        branch: Array<Root>;
        /** The proven value as JSON; null if it is larger than 1024 bytes or not a field. */
        value: unknown;
        /** First byte of the value in the leaf; null if the leaf is the hash tree root of the value. */
        offset: Uint64 | null;
        /** Position of a bit in that byte, from the least significant. */
        bit: Uint64 | null;
      }
    | {
        root: Root;
        slot: Uint64;
        state_root: Root;
        block_root: Root;
        /** Timestamp by which the contract of EIP-4788 returns the root of the block: that of the payload in the block's canonical child. Null if there is no such child yet, and before deneb. */
        timestamp: Uint64 | null;
        /** Unique leaves, by descending generalized index. */
        leaves: Array<{ gindex: Uint64; leaf: Root }>;
        /** Other nodes needed to compute the root, by descending generalized index. */
        witnesses: Array<{ gindex: Uint64; node: Root }>;
        /** In the order of the request. */
        values: Array<{
          gindex: Uint64;
          /** The proven value as JSON; null if it is larger than 1024 bytes or not a field. */
          value: unknown;
          /** First byte of the value in the leaf; null if the leaf is the hash tree root of the value. */
          offset: Uint64 | null;
          /** Position of a bit in that byte, from the least significant. */
          bit: Uint64 | null;
        }>;
      }
  >;
  /** Runs slots immediately, with all validator duties: one, a given number, or until a condition holds. */
  dev_advance(
    params?: {
      /** Number of slots. Default: 1. */
      slots?: string | number;
      /** Number of epochs, instead of slots. */
      epochs?: string | number;
      /** Condition to run until, instead of a number. Fails after `limit` slots. */
      until?:
        | "finalized"
        | "justified"
        | { slot: string | number }
        | { epoch: string | number }
        | { finalized: string | number }
        | {
            validator: string | number;
            status:
              | "pending_initialized"
              | "pending_queued"
              | "active_ongoing"
              | "active_exiting"
              | "active_slashed"
              | "exited_unslashed"
              | "exited_slashed"
              | "withdrawal_possible"
              | "withdrawal_done";
          };
      /** Maximum number of slots for `until`. Default: 65536. */
      limit?: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Runs slots immediately without any duties, as if all validators were offline. */
  dev_skip(
    params?: {
      /** Number of slots. Default: 1. */
      slots?: string | number;
      /** Number of epochs, instead of slots. */
      epochs?: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Pauses the clock after the duties of the current slot, until dev_resume. */
  dev_pause(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Resumes the clock at its previous speed. */
  dev_resume(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Sets the speed of the clock. 0 pauses it, so that the chain advances only on request. */
  dev_setSpeed(
    params: {
      /** Seconds of chain time per second of real time. */
      speed: number;
    },
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Lists the validators that are online, that is, perform their duties, and those that are offline. */
  dev_getValidators(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** Indices of the validators that perform their duties. */ online: Array<Uint64>;
    /** Indices of the other validators whose keys the chain has. */
    offline: Array<Uint64>;
  }>;
  /** Sets which validators are online from the next slot on: exactly the given ones, or all but the given ones. Persists across restarts. */
  dev_setValidators(
    params?: {
      /** Validators that are online. A fraction is spread evenly over the indices. */
      online?: "all" | "none" | string | number | Array<string | number>;
      /** Validators that are offline, instead of `online`. */
      offline?: "all" | "none" | string | number | Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<{
    /** Indices of the validators that perform their duties. */ online: Array<Uint64>;
    /** Indices of the other validators whose keys the chain has. */
    offline: Array<Uint64>;
  }>;
  /** Reorganizes the chain: validators build on an ancestor of the head and vote for the new branch until it becomes the head. */
  dev_reorg(
    params?: {
      /** Number of blocks to replace. Default: 1. */
      depth?: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    old_head: { slot: Uint64; root: Root };
    new_head: { slot: Uint64; root: Root };
    common_ancestor: { slot: Uint64; root: Root };
    slots: Uint64;
    position: {
      slot: Uint64;
      epoch: Uint64;
      head_slot: Uint64;
      head_block_root: Root;
      justified_epoch: Uint64;
      finalized_epoch: Uint64;
      /** Seconds of chain time per second of real time; 0 while the clock is paused. */
      speed: number;
    };
  }>;
  /** Grows two branches, always the shorter one. Without a depth it continues the branches of the previous call, if both are still viable. Afterwards all validators follow the head again. */
  dev_fork(
    params?: {
      /** Blocks before the head at which a new branch starts. Default: 1, if there are no branches to continue. */
      depth?: string | number;
      /** Number of slots. Default: 2. */
      slots?: string | number;
      /** Branch that validators vote for. Default: "split", every second one for the new branch. */
      votes?: "old" | "new" | "split" | number;
    },
    options?: CallOptions,
  ): Promise<{
    old_branch: { head: { slot: Uint64; root: Root }; weight: Uint64 };
    new_branch: { head: { slot: Uint64; root: Root }; weight: Uint64 };
    common_ancestor: { slot: Uint64; root: Root };
    /** Branch of the head. */
    head: "old" | "new";
    position: {
      slot: Uint64;
      epoch: Uint64;
      head_slot: Uint64;
      head_block_root: Root;
      justified_epoch: Uint64;
      finalized_epoch: Uint64;
      /** Seconds of chain time per second of real time; 0 while the clock is paused. */
      speed: number;
    };
  }>;
  /** Delays the blocks of the next slots beyond the attestation deadline, so that they get no proposer boost and no votes in the slot of their arrival. */
  dev_delayBlocks(
    params?: {
      /** Number of slots, from the next one on. Default: 1. 0 ends a delay. */
      slots?: string | number;
      /** Seconds into the slot of arrival. Default: halfway between the attestation deadline and the end of the slot. */
      seconds?: number;
      /** Number of slots after its own in which a block arrives. Default: 0. Proposers in between do not know the block. */
      slots_late?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ from_slot: Uint64; until_slot: Uint64; seconds: number; slots_late: Uint64 }>;
  /** Creates slashings: validators sign two blocks for one slot, or two attestations for one target. */
  dev_slash(
    params: {
      /** One or more validators, by index or public key. */
      validators: string | number | Array<string | number>;
      /** Kind of slashing. Default: proposer. */
      kind?: "proposer" | "attester";
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
      /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
      status: "pooled" | "queued" | "logged";
      /** The operation in the JSON of the Beacon API. */
      data: object;
    }>
  >;
  /** Creates a voluntary exit of a validator. */
  dev_exit(
    params: {
      /** Validator index or public key. */
      validator: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
    status: "pooled" | "queued" | "logged";
    /** The operation in the JSON of the Beacon API. */
    data: object;
  }>;
  /** Creates a withdrawal request from the validator's withdrawal address (EIP-7002), for a part of the balance or a full exit. */
  dev_withdraw(
    params: {
      /** Validator index or public key. */
      validator: string | number;
      /** Amount in Gwei, limited to the balance above 32 ETH. Default: 0, a full exit. */
      amount?: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
    status: "pooled" | "queued" | "logged";
    /** The operation in the JSON of the Beacon API. */
    data: object;
  }>;
  /** Changes a validator's withdrawal credentials: from BLS to execution by a signed change, from execution to compounding by a request (EIP-7251). */
  dev_changeCredentials(
    params: {
      /** Validator index or public key. */
      validator: string | number;
      /** Withdrawal address. Execution credentials keep theirs. */
      address?: string;
      /** Prefix of the new credentials. Default: "0x01". */
      type?: "0x01" | "0x02";
    },
    options?: CallOptions,
  ): Promise<{
    /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
    status: "pooled" | "queued" | "logged";
    /** The operation in the JSON of the Beacon API. */
    data: object;
  }>;
  /** Creates a consolidation request from the validator's withdrawal address (EIP-7251): the source exits, and its balance moves to the target. */
  dev_consolidate(
    params: {
      /** Index or public key of the source validator, which needs execution credentials. */
      source: string | number;
      /** Index or public key of the target validator, which needs compounding credentials. */
      target: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
    status: "pooled" | "queued" | "logged";
    /** The operation in the JSON of the Beacon API. */
    data: object;
  }>;
  /** Creates deposits for new validators, with the chain's next keys, or tops up an existing one. New validators perform their duties once they are active. */
  dev_deposit(
    params?: {
      /** Validator to top up. Default: a new validator. */
      validator?: string | number;
      /** Amount per deposit in Gwei. Default: 32 ETH. */
      amount?: string | number;
      /** Number of new validators. Default: 1. */
      count?: number;
      /** Default: BLS credentials of a new validator's key, or those of the existing validator. */
      withdrawal_credentials?: string;
      /** True for an invalid signature: the deposit adds no validator. A top-up ignores the signature. */
      bad_signature?: boolean;
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      /** Name in the consensus specification, such as voluntary_exit or withdrawal_request. */ type: string;
      /** Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit chain for the eth1 vote. */
      status: "pooled" | "queued" | "logged";
      /** The operation in the JSON of the Beacon API. */
      data: object;
    }>
  >;
  /** Takes a snapshot of the whole chain for dev_revert: blocks, states, fork choice, pools, time and slashing protection. Snapshots are kept in memory, without a limit on their number. */
  dev_snapshot(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Another name of dev_snapshot. */
  evm_snapshot: Methods["dev_snapshot"];
  /** Another name of dev_snapshot. */
  anvil_snapshot: Methods["dev_snapshot"];
  /** Reverts the chain to a snapshot, even across finality. Deletes the snapshot and all later ones. */
  dev_revert(
    params: {
      /** Id returned by dev_snapshot. */
      id: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Another name of dev_revert. */
  evm_revert: Methods["dev_revert"];
  /** Another name of dev_revert. */
  anvil_revert: Methods["dev_revert"];
  /** Dumps the whole chain: blocks, states, votes, pools, time and slashing protection. Returns the dump, or its path if it was written to a file. */
  dev_dump(
    params?: {
      /** Name of a new file in the directory `dumps` of the data directory. */
      file?: string;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Replaces the chain by that of a dump, which must have the same genesis and configuration. `fanal db import` creates a data directory from any dump. */
  dev_load(
    params?: {
      /** Dump in hex. */
      dump?: string;
      /** Name of a file in the directory `dumps` of the data directory, instead of a dump. */
      file?: string;
    },
    options?: CallOptions,
  ): Promise<{
    slot: Uint64;
    epoch: Uint64;
    head_slot: Uint64;
    head_block_root: Root;
    justified_epoch: Uint64;
    finalized_epoch: Uint64;
    /** Seconds of chain time per second of real time; 0 while the clock is paused. */
    speed: number;
  }>;
  /** Public and secret keys and withdrawal credentials of the genesis validators and of those added by dev_deposit, optionally only of an index range. */
  dev_keys(
    params?: {
      /** First validator index. Default: 0. */
      first?: string | number;
      /** Last validator index. Default: that of the last validator with a known key. */
      last?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; pubkey: Pubkey; secret_key: Root; withdrawal_credentials: Root }>>;
  /** The head of the chain in Anvil's format. */
  anvil_nodeInfo(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** Slot of the head. */ currentBlockNumber: string;
    /** Start of that slot in Unix seconds. */
    currentBlockTimestamp: number;
    currentBlockHash: Root;
    /** Fork of the head. */
    hardFork: string;
    environment: {
      /** Chain id of the deposit contract. */ chainId: number;
    };
  }>;
  /** Runs slots with blocks immediately: one, or a given number. */
  anvil_mine(
    params?: {
      /** Number of blocks. Default: 1. */
      blocks?: string | number;
      /** Seconds between blocks. If it is longer than a slot, the slots between stay empty. */
      interval?: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of anvil_mine. */
  hardhat_mine: Methods["anvil_mine"];
  /** Runs slots with blocks immediately: one, a given number, or from a given time on. */
  evm_mine(
    params?: {
      /** Start of the first block's slot in Unix seconds. Slots before it stay empty. */
      timestamp?: string | number;
      /** Number of blocks. Default: 1. */
      blocks?: string | number;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Runs as many empty slots as fit into a number of seconds. */
  evm_increaseTime(
    params: {
      /** Number of seconds. */
      seconds: string | number;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Another name of evm_increaseTime. */
  anvil_increaseTime: Methods["evm_increaseTime"];
  /** Runs empty slots until the next slot is the one that starts at a given time. */
  evm_setNextBlockTimestamp(
    params: {
      /** Start of the next block's slot in Unix seconds. */
      timestamp: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setNextBlockTimestamp. */
  anvil_setNextBlockTimestamp: Methods["evm_setNextBlockTimestamp"];
  /** Sets the duration of a slot in real time. 0 pauses the clock. */
  evm_setIntervalMining(
    params: {
      /** Seconds of real time per slot. */
      interval: number | string;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setIntervalMining. */
  anvil_setIntervalMining: Methods["evm_setIntervalMining"];
  /** Duration of a slot in seconds of real time; null while the clock is paused. */
  anvil_getIntervalMining(params?: Record<string, never>, options?: CallOptions): Promise<number | null>;
  /** Resumes the clock at its previous speed, or pauses it. */
  evm_setAutomine(
    params: {
      /** True to resume, false to pause. */
      enabled: boolean;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setAutomine. */
  anvil_setAutomine: Methods["evm_setAutomine"];
  /** Returns true if the clock is running. */
  anvil_getAutomine(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** Another name of anvil_getAutomine. */
  hardhat_getAutomine: Methods["anvil_getAutomine"];
  /** Another name of anvil_getAutomine. */
  eth_mining: Methods["anvil_getAutomine"];
  /** Reorganizes the chain like dev_reorg. */
  anvil_reorg(
    params: {
      /** Number of blocks to replace, at least 1. */
      depth: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Dumps the whole chain like dev_dump. */
  anvil_dumpState(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Another name of anvil_dumpState. */
  hardhat_dumpState: Methods["anvil_dumpState"];
  /** Replaces the chain by that of a dump, like dev_load. */
  anvil_loadState(
    params: {
      /** Dump returned by anvil_dumpState or dev_dump. */
      state: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Another name of anvil_loadState. */
  hardhat_loadState: Methods["anvil_loadState"];
  /** Resumes the clock at its previous speed. */
  miner_start(params?: Record<string, never>, options?: CallOptions): Promise<null>;
  /** Pauses the clock. */
  miner_stop(params?: Record<string, never>, options?: CallOptions): Promise<null>;
  /** Returns the chain id that transactions are signed for. */
  eth_chainId(params?: Record<string, never>, options?: CallOptions): Promise<Quantity>;
  /** Returns the number of the latest block. */
  eth_blockNumber(params?: Record<string, never>, options?: CallOptions): Promise<Quantity>;
  /** Returns false: blocks are executed as soon as they arrive. */
  eth_syncing(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** Returns the funded accounts, which the node can sign for. */
  eth_accounts(params?: Record<string, never>, options?: CallOptions): Promise<Array<Address>>;
  /** Another name of eth_accounts. */
  eth_requestAccounts: Methods["eth_accounts"];
  /** Returns the fee recipient of the latest block. */
  eth_coinbase(params?: Record<string, never>, options?: CallOptions): Promise<Address>;
  /** Returns the chain id as a decimal string. */
  net_version(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Returns true: the node takes connections. */
  net_listening(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** Returns name, version and platform of the node. */
  web3_clientVersion(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Returns the Keccak-256 hash of bytes. */
  web3_sha3(
    params: {
      /** Bytes to hash. */
      bytes: string;
    },
    options?: CallOptions,
  ): Promise<Root>;
  /** Returns a gas price for legacy transactions: the next base fee and a tip. */
  eth_gasPrice(params?: Record<string, never>, options?: CallOptions): Promise<Quantity>;
  /** Returns a tip per gas that is enough for the next block. */
  eth_maxPriorityFeePerGas(params?: Record<string, never>, options?: CallOptions): Promise<Quantity>;
  /** Returns the blob base fee of the next block. */
  eth_blobBaseFee(params?: Record<string, never>, options?: CallOptions): Promise<Quantity>;
  /** Returns base fees, gas usage and tips of consecutive blocks, at most 1,024. */
  eth_feeHistory(
    params: {
      /** Number of blocks. */
      block_count: string | number;
      /** Block number or tag. */
      newest_block: "latest" | "safe" | "finalized" | "pending" | "earliest" | string;
      /** Percentiles of the tips to return. */
      reward_percentiles?: Array<number>;
    },
    options?: CallOptions,
  ): Promise<{
    oldestBlock: Quantity;
    baseFeePerGas: Array<Quantity>;
    gasUsedRatio: Array<number>;
    baseFeePerBlobGas: Array<Quantity>;
    blobGasUsedRatio: Array<number>;
    reward?: Array<Array<Quantity>>;
  }>;
  /** Returns the block with a number or tag; null if there is none. */
  eth_getBlockByNumber(
    params: {
      /** Block number or tag. */
      block: "latest" | "safe" | "finalized" | "pending" | "earliest" | string;
      /** True for whole transactions, false for their hashes. Default: false. */
      full?: boolean;
    },
    options?: CallOptions,
  ): Promise<EthBlock | null>;
  /** Returns the block with a hash; null if there is none. */
  eth_getBlockByHash(
    params: {
      /** Block hash. */
      hash: string;
      /** True for whole transactions, false for their hashes. Default: false. */
      full?: boolean;
    },
    options?: CallOptions,
  ): Promise<EthBlock | null>;
  /** Returns the number of transactions in the block with a number or tag; null if there is none. */
  eth_getBlockTransactionCountByNumber(
    params: {
      /** Block number or tag. */
      block: "latest" | "safe" | "finalized" | "pending" | "earliest" | string;
    },
    options?: CallOptions,
  ): Promise<Quantity | null>;
  /** Returns the number of transactions in the block with a hash; null if there is none. */
  eth_getBlockTransactionCountByHash(
    params: {
      /** Block hash. */
      hash: string;
    },
    options?: CallOptions,
  ): Promise<Quantity | null>;
  /** Returns the receipts of all transactions of a block; null if there is none. */
  eth_getBlockReceipts(
    params: {
      /** Block number, tag or hash. */
      block:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Array<EthReceipt> | null>;
  /** Returns a transaction of the chain or the pool; null if there is none. */
  eth_getTransactionByHash(
    params: {
      /** Transaction hash. */
      hash: string;
    },
    options?: CallOptions,
  ): Promise<EthTransaction | null>;
  /** Returns a transaction by its position in the block with a hash; null if there is none. */
  eth_getTransactionByBlockHashAndIndex(
    params: {
      /** Block hash. */
      hash: string;
      /** Position of the transaction in the block. */
      index: string;
    },
    options?: CallOptions,
  ): Promise<EthTransaction | null>;
  /** Returns a transaction by its position in the block with a number or tag; null if there is none. */
  eth_getTransactionByBlockNumberAndIndex(
    params: {
      /** Block number or tag. */
      block: "latest" | "safe" | "finalized" | "pending" | "earliest" | string;
      /** Position of the transaction in the block. */
      index: string;
    },
    options?: CallOptions,
  ): Promise<EthTransaction | null>;
  /** Returns the receipt of a transaction of the chain; null if no block includes it. */
  eth_getTransactionReceipt(
    params: {
      /** Transaction hash. */
      hash: string;
    },
    options?: CallOptions,
  ): Promise<EthReceipt | null>;
  /** Adds a signed transaction to the pool and returns its hash. */
  eth_sendRawTransaction(
    params: {
      /** Signed transaction; with blobs in its network form. */
      raw: string;
    },
    options?: CallOptions,
  ): Promise<Root>;
  /** Returns how many transactions are pending, and how many are queued after a nonce gap. */
  txpool_status(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ pending: Quantity; queued: Quantity }>;
  /** Returns all pooled transactions by sender and nonce. */
  txpool_content(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    pending: Record<string, Record<string, EthTransaction>>;
    queued: Record<string, Record<string, EthTransaction>>;
  }>;
  /** Returns a line of text for each pooled transaction, by sender and nonce. */
  txpool_inspect(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ pending: Record<string, Record<string, string>>; queued: Record<string, Record<string, string>> }>;
  /** Returns the logs of a range of blocks or of one block that match a filter. */
  eth_getLogs(
    params: {
      /** Filter: fromBlock and toBlock, or blockHash; address, one or several; topics by position, each one, several or null. */
      filter: {
        address?: string | Array<string> | null | null;
        topics?: Array<string | Array<string> | null> | null;
        fromBlock?: "latest" | "safe" | "finalized" | "pending" | "earliest" | string | null | null;
        toBlock?: "latest" | "safe" | "finalized" | "pending" | "earliest" | string | null | null;
        blockHash?: string | null | null;
      };
    },
    options?: CallOptions,
  ): Promise<Array<EthLog>>;
  /** Creates a filter for logs. It expires if it is not polled for five minutes. */
  eth_newFilter(
    params: {
      /** Filter: fromBlock and toBlock, or blockHash; address, one or several; topics by position, each one, several or null. */
      filter: {
        address?: string | Array<string> | null | null;
        topics?: Array<string | Array<string> | null> | null;
        fromBlock?: "latest" | "safe" | "finalized" | "pending" | "earliest" | string | null | null;
        toBlock?: "latest" | "safe" | "finalized" | "pending" | "earliest" | string | null | null;
        blockHash?: string | null | null;
      };
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Creates a filter for the hashes of new blocks. */
  eth_newBlockFilter(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Creates a filter for the hashes of transactions that enter the pool. */
  eth_newPendingTransactionFilter(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Returns what a filter has found since the last poll. Logs of lost blocks have `removed: true`. */
  eth_getFilterChanges(
    params: {
      /** Id of the filter. */
      filter_id: string;
    },
    options?: CallOptions,
  ): Promise<Array<Root> | Array<EthLog>>;
  /** Returns all logs that match a filter, as eth_getLogs does. */
  eth_getFilterLogs(
    params: {
      /** Id of the filter. */
      filter_id: string;
    },
    options?: CallOptions,
  ): Promise<Array<EthLog>>;
  /** Removes a filter. Returns false if there is none with this id. */
  eth_uninstallFilter(
    params: {
      /** Id of the filter. */
      filter_id: string;
    },
    options?: CallOptions,
  ): Promise<boolean>;
  /** Returns the balance of an account, in wei. */
  eth_getBalance(
    params: {
      /** Address of the account. */
      address: string;
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Quantity>;
  /** Returns the code of a contract, or the delegation of an account (EIP-7702). */
  eth_getCode(
    params: {
      /** Address of the account. */
      address: string;
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Returns the value of a storage slot, as 32 bytes. */
  eth_getStorageAt(
    params: {
      /** Address of the account. */
      address: string;
      /** Storage slot. */
      slot: string;
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Returns the nonce of an account; for the pending block with its pooled transactions. */
  eth_getTransactionCount(
    params: {
      /** Address of the account. */
      address: string;
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Quantity>;
  /** Returns the Merkle proof of an account and of some of its storage slots (EIP-1186). */
  eth_getProof(
    params: {
      /** Address of the account. */
      address: string;
      /** Storage slots. */
      slots: Array<string>;
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<{
    address: Address;
    accountProof: Array<Bytes>;
    balance: Quantity;
    codeHash: Root;
    nonce: Quantity;
    storageHash: Root;
    storageProof: Array<{ key: string; value: Quantity; proof: Array<Bytes> }>;
  }>;
  /** Executes a call without a transaction, and returns what it returns. */
  eth_call(
    params: {
      /** The call: from, to, gas, value, data and further fields of a transaction. */
      call: {
        from?: string;
        to?: string;
        gas?: string;
        gasPrice?: string;
        maxFeePerGas?: string;
        maxPriorityFeePerGas?: string;
        maxFeePerBlobGas?: string;
        value?: string;
        data?: string;
        input?: string;
        nonce?: string;
        accessList?: Array<{ address?: string; storageKeys?: Array<string> }>;
        authorizationList?: Array<{
          chainId?: string;
          address?: string;
          nonce?: string;
          yParity?: string;
          r?: string;
          s?: string;
        }>;
        blobVersionedHashes?: Array<string>;
      };
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
      /** Replaces parts of accounts for this call, by address: balance, nonce, code, state, stateDiff. */
      state_overrides?: Record<
        string,
        {
          nonce?: string;
          balance?: string;
          code?: string;
          state?: Record<string, string>;
          stateDiff?: Record<string, string>;
        }
      >;
      /** Replaces header fields for this call: number, time, gasLimit, feeRecipient, prevRandao, baseFeePerGas, blobBaseFee. */
      block_overrides?: {
        number?: string;
        time?: string;
        gasLimit?: string;
        feeRecipient?: string;
        prevRandao?: string;
        baseFeePerGas?: string;
        blobBaseFee?: string;
      };
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Returns a gas limit with which the call succeeds. */
  eth_estimateGas(
    params: {
      /** The call: from, to, gas, value, data and further fields of a transaction. */
      call: {
        from?: string;
        to?: string;
        gas?: string;
        gasPrice?: string;
        maxFeePerGas?: string;
        maxPriorityFeePerGas?: string;
        maxFeePerBlobGas?: string;
        value?: string;
        data?: string;
        input?: string;
        nonce?: string;
        accessList?: Array<{ address?: string; storageKeys?: Array<string> }>;
        authorizationList?: Array<{
          chainId?: string;
          address?: string;
          nonce?: string;
          yParity?: string;
          r?: string;
          s?: string;
        }>;
        blobVersionedHashes?: Array<string>;
      };
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
      /** Replaces parts of accounts for this call, by address: balance, nonce, code, state, stateDiff. */
      state_overrides?: Record<
        string,
        {
          nonce?: string;
          balance?: string;
          code?: string;
          state?: Record<string, string>;
          stateDiff?: Record<string, string>;
        }
      >;
      /** Replaces header fields for this call: number, time, gasLimit, feeRecipient, prevRandao, baseFeePerGas, blobBaseFee. */
      block_overrides?: {
        number?: string;
        time?: string;
        gasLimit?: string;
        feeRecipient?: string;
        prevRandao?: string;
        baseFeePerGas?: string;
        blobBaseFee?: string;
      };
    },
    options?: CallOptions,
  ): Promise<Quantity>;
  /** Returns the accounts and slots that a call reads, as an access list, and its gas. */
  eth_createAccessList(
    params: {
      /** The call: from, to, gas, value, data and further fields of a transaction. */
      call: {
        from?: string;
        to?: string;
        gas?: string;
        gasPrice?: string;
        maxFeePerGas?: string;
        maxPriorityFeePerGas?: string;
        maxFeePerBlobGas?: string;
        value?: string;
        data?: string;
        input?: string;
        nonce?: string;
        accessList?: Array<{ address?: string; storageKeys?: Array<string> }>;
        authorizationList?: Array<{
          chainId?: string;
          address?: string;
          nonce?: string;
          yParity?: string;
          r?: string;
          s?: string;
        }>;
        blobVersionedHashes?: Array<string>;
      };
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
      /** Replaces parts of accounts for this call, by address: balance, nonce, code, state, stateDiff. */
      state_overrides?: Record<
        string,
        {
          nonce?: string;
          balance?: string;
          code?: string;
          state?: Record<string, string>;
          stateDiff?: Record<string, string>;
        }
      >;
    },
    options?: CallOptions,
  ): Promise<{ accessList: Array<{ address: Address; storageKeys: Array<Root> }>; gasUsed: Quantity; error?: string }>;
  /** Executes blocks of calls on top of a block, and returns the blocks with the result of each call. */
  eth_simulateV1(
    params: {
      /** Blocks in blockStateCalls (calls, stateOverrides, blockOverrides), traceTransfers, validation, returnFullTransactions. */
      simulation: {
        blockStateCalls?: Array<{
          blockOverrides?: {
            number?: string;
            time?: string;
            gasLimit?: string;
            feeRecipient?: string;
            prevRandao?: string;
            baseFeePerGas?: string;
            blobBaseFee?: string;
          };
          stateOverrides?: Record<
            string,
            {
              nonce?: string;
              balance?: string;
              code?: string;
              state?: Record<string, string>;
              stateDiff?: Record<string, string>;
            }
          >;
          calls?: Array<{
            from?: string;
            to?: string;
            gas?: string;
            gasPrice?: string;
            maxFeePerGas?: string;
            maxPriorityFeePerGas?: string;
            maxFeePerBlobGas?: string;
            value?: string;
            data?: string;
            input?: string;
            nonce?: string;
            accessList?: Array<{ address?: string; storageKeys?: Array<string> }>;
            authorizationList?: Array<{
              chainId?: string;
              address?: string;
              nonce?: string;
              yParity?: string;
              r?: string;
              s?: string;
            }>;
            blobVersionedHashes?: Array<string>;
          }>;
        }>;
        traceTransfers?: boolean;
        validation?: boolean;
        returnFullTransactions?: boolean;
      };
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
    },
    options?: CallOptions,
  ): Promise<Array<EthBlock>>;
  /** Executes a transaction of a block again, and returns its calls or its opcodes. */
  debug_traceTransaction(
    params: {
      /** Transaction hash. */
      hash: string;
      /** tracer: callTracer with tracerConfig (onlyTopCall, withLog). Without a tracer, every opcode is recorded: enableMemory, disableStack, disableStorage, limit. */
      options?: {
        tracer?: "callTracer";
        tracerConfig?: { onlyTopCall?: boolean; withLog?: boolean };
        enableMemory?: boolean;
        disableStack?: boolean;
        disableStorage?: boolean;
        enableReturnData?: boolean;
        limit?: number;
      };
    },
    options?: CallOptions,
  ): Promise<object>;
  /** Executes a call without a transaction, and returns its calls or its opcodes. */
  debug_traceCall(
    params: {
      /** The call: from, to, gas, value, data and further fields of a transaction. */
      call: {
        from?: string;
        to?: string;
        gas?: string;
        gasPrice?: string;
        maxFeePerGas?: string;
        maxPriorityFeePerGas?: string;
        maxFeePerBlobGas?: string;
        value?: string;
        data?: string;
        input?: string;
        nonce?: string;
        accessList?: Array<{ address?: string; storageKeys?: Array<string> }>;
        authorizationList?: Array<{
          chainId?: string;
          address?: string;
          nonce?: string;
          yParity?: string;
          r?: string;
          s?: string;
        }>;
        blobVersionedHashes?: Array<string>;
      };
      /** Block whose state is read: number, tag or hash. Default: latest. */
      block?:
        | "latest"
        | "safe"
        | "finalized"
        | "pending"
        | "earliest"
        | string
        | { blockNumber: string }
        | { blockHash: string; requireCanonical?: boolean };
      /** tracer: callTracer with tracerConfig (onlyTopCall, withLog). Without a tracer, every opcode is recorded: enableMemory, disableStack, disableStorage, limit. stateOverrides and blockOverrides as of eth_call. */
      options?: {
        tracer?: "callTracer";
        tracerConfig?: { onlyTopCall?: boolean; withLog?: boolean };
        enableMemory?: boolean;
        disableStack?: boolean;
        disableStorage?: boolean;
        enableReturnData?: boolean;
        limit?: number;
        stateOverrides?: Record<
          string,
          {
            nonce?: string;
            balance?: string;
            code?: string;
            state?: Record<string, string>;
            stateDiff?: Record<string, string>;
          }
        >;
        blockOverrides?: {
          number?: string;
          time?: string;
          gasLimit?: string;
          feeRecipient?: string;
          prevRandao?: string;
          baseFeePerGas?: string;
          blobBaseFee?: string;
        };
      };
    },
    options?: CallOptions,
  ): Promise<object>;
  /** Signs a message with the prefix of EIP-191. */
  eth_sign(
    params: {
      /** One of the funded accounts. */
      address: string;
      /** Message. */
      message: string;
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Signs a message with the prefix of EIP-191. Takes the message first. */
  personal_sign(
    params: {
      /** Message. */
      message: string;
      /** One of the funded accounts. */
      address: string;
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Signs typed data (EIP-712). */
  eth_signTypedData_v4(
    params: {
      /** One of the funded accounts. */
      address: string;
      /** Typed data. */
      typed_data: { types: object; primaryType: string; domain: object; message: object } | string;
    },
    options?: CallOptions,
  ): Promise<Bytes>;
  /** Another name of eth_signTypedData_v4. */
  eth_signTypedData: Methods["eth_signTypedData_v4"];
  /** Signs a transaction without sending it. */
  eth_signTransaction(
    params: {
      /** Transaction. Nonce, gas and fees are filled in if they are absent. */
      transaction: {
        from?: string | null;
        to?: string | null | null;
        gas?: string | null;
        gasPrice?: string | null;
        maxFeePerGas?: string | null;
        maxPriorityFeePerGas?: string | null;
        maxFeePerBlobGas?: string | null;
        value?: string | null;
        data?: string | null;
        input?: string | null;
        nonce?: string | null;
        chainId?: string | null;
        type?: string | null;
        accessList?: Array<{ address: string; storageKeys: Array<string> }> | null;
        blobVersionedHashes?: Array<string> | null;
        authorizationList?: Array<{
          chainId: string;
          address: string;
          nonce: string;
          yParity: string;
          r: string;
          s: string;
        }> | null;
      };
    },
    options?: CallOptions,
  ): Promise<{ raw: Bytes; tx: object }>;
  /** Signs a transaction, adds it to the pool and returns its hash. */
  eth_sendTransaction(
    params: {
      /** Transaction. Nonce, gas and fees are filled in if they are absent. */
      transaction: {
        from?: string | null;
        to?: string | null | null;
        gas?: string | null;
        gasPrice?: string | null;
        maxFeePerGas?: string | null;
        maxPriorityFeePerGas?: string | null;
        maxFeePerBlobGas?: string | null;
        value?: string | null;
        data?: string | null;
        input?: string | null;
        nonce?: string | null;
        chainId?: string | null;
        type?: string | null;
        accessList?: Array<{ address: string; storageKeys: Array<string> }> | null;
        blobVersionedHashes?: Array<string> | null;
        authorizationList?: Array<{
          chainId: string;
          address: string;
          nonce: string;
          yParity: string;
          r: string;
          s: string;
        }> | null;
      };
    },
    options?: CallOptions,
  ): Promise<Root>;
  /** OpenRPC document of all methods. */
  "rpc.discover"(params?: Record<string, never>, options?: CallOptions): Promise<{ openrpc: string; info: object }>;
}

export const METHOD_NAMES = [
  "get_v1_beacon_genesis",
  "get_v1_beacon_states_root",
  "get_v1_beacon_states_stateId_root",
  "get_v1_beacon_states_fork",
  "get_v1_beacon_states_stateId_fork",
  "get_v1_beacon_states_finality_checkpoints",
  "get_v1_beacon_states_stateId_finality_checkpoints",
  "get_v1_beacon_states_stateId_validators",
  "get_v1_beacon_states_stateId_validators_validatorId",
  "get_v1_beacon_states_stateId_validator_balances",
  "get_v1_beacon_states_stateId_committees_epoch",
  "get_v1_beacon_states_stateId_committees",
  "get_v1_beacon_headers",
  "get_v1_beacon_headers_blockId",
  "post_v1_beacon_blocks",
  "get_v1_beacon_blocks_blockId",
  "get_v2_beacon_blocks_blockId",
  "get_v1_beacon_blocks_blockId_root",
  "get_v1_beacon_blocks_blockId_attestations",
  "post_v1_beacon_states_stateId_validators",
  "post_v1_beacon_states_stateId_validator_balances",
  "post_v1_beacon_states_stateId_validator_identities",
  "get_v1_beacon_states_stateId_sync_committees",
  "get_v1_beacon_states_stateId_randao",
  "get_v1_beacon_states_stateId_pending_consolidations",
  "get_v1_beacon_states_stateId_pending_deposits",
  "get_v1_beacon_states_stateId_pending_partial_withdrawals",
  "get_v1_beacon_states_stateId_proposer_lookahead",
  "post_v2_beacon_blocks",
  "post_v2_beacon_blinded_blocks",
  "post_v1_beacon_blinded_blocks",
  "get_v1_beacon_blinded_blocks_blockId",
  "get_v2_beacon_blocks_blockId_attestations",
  "get_v1_beacon_blobs_blockId",
  "get_v1_beacon_blob_sidecars_blockId",
  "get_v1_builder_states_stateId_expected_withdrawals",
  "get_v1_beacon_rewards_blocks_blockId",
  "post_v1_beacon_rewards_sync_committee_blockId",
  "post_v1_beacon_rewards_attestations_epoch",
  "get_v1_beacon_deposit_snapshot",
  "post_v1_beacon_states_stateId_builders",
  "post_v1_beacon_execution_payload_bids",
  "post_v1_beacon_execution_payload_envelopes",
  "get_v1_beacon_execution_payload_envelopes_blockId",
  "get_v1_beacon_pool_payload_attestations",
  "post_v1_beacon_pool_payload_attestations",
  "post_v1_beacon_pool_attestations",
  "get_v1_beacon_pool_attester_slashings",
  "post_v1_beacon_pool_attester_slashings",
  "get_v1_beacon_pool_proposer_slashings",
  "post_v1_beacon_pool_proposer_slashings",
  "get_v1_beacon_pool_voluntary_exits",
  "post_v1_beacon_pool_voluntary_exits",
  "get_v1_beacon_pool_attestations",
  "get_v2_beacon_pool_attestations",
  "post_v2_beacon_pool_attestations",
  "get_v2_beacon_pool_attester_slashings",
  "post_v2_beacon_pool_attester_slashings",
  "get_v1_beacon_pool_bls_to_execution_changes",
  "post_v1_beacon_pool_bls_to_execution_changes",
  "get_v1_node_identity",
  "get_v1_node_peers",
  "get_v1_node_peers_peerId",
  "get_v1_node_peer_count",
  "get_v1_node_version",
  "get_v1_node_syncing",
  "get_v1_node_health",
  "get_v2_node_version",
  "getReadiness",
  "get_v1_validator_duties_attester",
  "post_v1_validator_duties_attester",
  "post_v1_validator_duties_attester_epoch",
  "get_v1_validator_duties_proposer",
  "get_v1_validator_duties_proposer_epoch",
  "get_v1_validator_block",
  "get_v2_validator_blocks_slot",
  "get_v1_validator_blocks_slot",
  "post_v1_validator_block",
  "get_v1_validator_attestation_data",
  "get_v1_validator_attestation",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
  "post_v1_validator_aggregate_and_proofs",
  "post_v1_validator_aggregate_and_proof",
  "post_v1_validator_beacon_committee_subscriptions",
  "post_v1_validator_duties_sync_epoch",
  "post_v1_validator_duties_sync",
  "get_v2_validator_duties_proposer_epoch",
  "get_v2_validator_duties_proposer",
  "post_v1_validator_liveness_epoch",
  "post_v1_validator_liveness",
  "get_v3_validator_blocks_slot",
  "get_v3_validator_block",
  "get_v1_validator_blinded_blocks_slot",
  "get_v2_validator_aggregate_attestation",
  "post_v2_validator_aggregate_and_proofs",
  "post_v1_beacon_pool_sync_committees",
  "get_v1_validator_sync_committee_contribution",
  "post_v1_validator_contribution_and_proofs",
  "post_v1_validator_prepare_beacon_proposer",
  "post_v1_validator_register_validator",
  "post_v1_validator_sync_committee_subscriptions",
  "post_v1_validator_beacon_committee_selections",
  "post_v1_validator_sync_committee_selections",
  "post_v1_validator_duties_ptc_epoch",
  "post_v1_validator_duties_ptc",
  "get_v4_validator_blocks_slot",
  "get_v4_validator_block",
  "get_v1_validator_payload_attestation_data",
  "post_v1_validator_proposer_preferences",
  "get_v1_validator_execution_payload_bids_slot_builderIndex",
  "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
  "get_v1_config_fork_schedule",
  "get_v1_config_spec",
  "get_v1_config_deposit_contract",
  "getSpecPreset",
  "get_v1_debug_beacon_states_stateId",
  "get_v2_debug_beacon_states_stateId",
  "get_v2_debug_beacon_heads",
  "get_v1_debug_beacon_heads",
  "get_v1_debug_fork_choice",
  "get_v1_debug_beacon_data_column_sidecars_blockId",
  "getBeaconHead",
  "getChainHead",
  "getNodeVersion",
  "peers",
  "getSyncing",
  "getNetworkPeerId",
  "getNetworkPeers",
  "getNetworkEnr",
  "getBeaconBlock",
  "getBeaconState",
  "setLogLevel",
  "setGraffiti",
  "getEth1Chain",
  "getEth1ProposalData",
  "debug_getChronosFutures",
  "getChronosFutures",
  "debug_getGossipSubPeers",
  "getGossipSubPeers",
  "getParticipation",
  "getChainTime",
  "get_v1_beacon_light_client_bootstrap_blockRoot",
  "get_v1_beacon_light_client_updates",
  "get_v1_beacon_light_client_finality_update",
  "get_v1_beacon_light_client_optimistic_update",
  "getStateProof",
  "getBlockProof",
  "dev_advance",
  "dev_skip",
  "dev_pause",
  "dev_resume",
  "dev_setSpeed",
  "dev_getValidators",
  "dev_setValidators",
  "dev_reorg",
  "dev_fork",
  "dev_delayBlocks",
  "dev_slash",
  "dev_exit",
  "dev_withdraw",
  "dev_changeCredentials",
  "dev_consolidate",
  "dev_deposit",
  "dev_snapshot",
  "evm_snapshot",
  "anvil_snapshot",
  "dev_revert",
  "evm_revert",
  "anvil_revert",
  "dev_dump",
  "dev_load",
  "dev_keys",
  "anvil_nodeInfo",
  "anvil_mine",
  "hardhat_mine",
  "evm_mine",
  "evm_increaseTime",
  "anvil_increaseTime",
  "evm_setNextBlockTimestamp",
  "anvil_setNextBlockTimestamp",
  "evm_setIntervalMining",
  "anvil_setIntervalMining",
  "anvil_getIntervalMining",
  "evm_setAutomine",
  "anvil_setAutomine",
  "anvil_getAutomine",
  "hardhat_getAutomine",
  "eth_mining",
  "anvil_reorg",
  "anvil_dumpState",
  "hardhat_dumpState",
  "anvil_loadState",
  "hardhat_loadState",
  "miner_start",
  "miner_stop",
  "eth_chainId",
  "eth_blockNumber",
  "eth_syncing",
  "eth_accounts",
  "eth_requestAccounts",
  "eth_coinbase",
  "net_version",
  "net_listening",
  "web3_clientVersion",
  "web3_sha3",
  "eth_gasPrice",
  "eth_maxPriorityFeePerGas",
  "eth_blobBaseFee",
  "eth_feeHistory",
  "eth_getBlockByNumber",
  "eth_getBlockByHash",
  "eth_getBlockTransactionCountByNumber",
  "eth_getBlockTransactionCountByHash",
  "eth_getBlockReceipts",
  "eth_getTransactionByHash",
  "eth_getTransactionByBlockHashAndIndex",
  "eth_getTransactionByBlockNumberAndIndex",
  "eth_getTransactionReceipt",
  "eth_sendRawTransaction",
  "txpool_status",
  "txpool_content",
  "txpool_inspect",
  "eth_getLogs",
  "eth_newFilter",
  "eth_newBlockFilter",
  "eth_newPendingTransactionFilter",
  "eth_getFilterChanges",
  "eth_getFilterLogs",
  "eth_uninstallFilter",
  "eth_getBalance",
  "eth_getCode",
  "eth_getStorageAt",
  "eth_getTransactionCount",
  "eth_getProof",
  "eth_call",
  "eth_estimateGas",
  "eth_createAccessList",
  "eth_simulateV1",
  "debug_traceTransaction",
  "debug_traceCall",
  "eth_sign",
  "personal_sign",
  "eth_signTypedData_v4",
  "eth_signTypedData",
  "eth_signTransaction",
  "eth_sendTransaction",
  "rpc.discover",
] as const satisfies readonly (keyof Methods)[];
