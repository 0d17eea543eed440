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
  /** The justified and finalized checkpoints that a state holds. */
  get_v1_beacon_states_finality_checkpoints(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<{ previous_justified: Checkpoint; current_justified: Checkpoint; finalized: Checkpoint }>;
  /** Another name of get_v1_beacon_states_finality_checkpoints. */
  get_v1_beacon_states_stateId_finality_checkpoints: Methods["get_v1_beacon_states_finality_checkpoints"];
  /** Validators of a state with their balances and statuses, by ascending index. */
  get_v1_beacon_states_stateId_validators(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Only these validators, each by index or public key; by default all. */
      id?: Array<string | number>;
      /** Only validators with one of these statuses or of one of these groups; by default all. */
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
      /** Which validator: an index or a public key. */
      validator_id: string | number;
    },
    options?: CallOptions,
  ): Promise<StateValidator>;
  /** Balances of the validators of a state, by ascending index. */
  get_v1_beacon_states_stateId_validator_balances(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Only these validators, each by index or public key; by default all. */
      id?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; balance: Uint64 }>>;
  /** The committees of an epoch, by slot and index, with their validators in order. */
  get_v1_beacon_states_stateId_committees_epoch(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** By default the epoch of the state. */
      epoch?: string | number;
      /** Only the committees with this index. */
      index?: string | number;
      /** Only the committees of this slot, which must be in the epoch. */
      slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Committee>>;
  /** Another name of get_v1_beacon_states_stateId_committees_epoch. */
  get_v1_beacon_states_stateId_committees: Methods["get_v1_beacon_states_stateId_committees_epoch"];
  /** Headers of the known blocks of a slot or of the children of a block; by default those at the head's slot. */
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
  /** Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast. */
  post_v1_beacon_blocks(
    params: {
      /** A signed block of the fork of its slot; from Deneb to Fulu together with its blobs. */
      signed_block: object;
    },
    options?: CallOptions,
  ): Promise<200 | 202>;
  /** A signed block in the form of its fork. */
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
  /** The attestations that a block includes, in its order. */
  get_v1_beacon_blocks_blockId_attestations(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Validators of a state like get_v1_beacon_states_stateId_validators, for as many ids as one likes. */
  post_v1_beacon_states_stateId_validators(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Only validators with these ids and statuses; a list left out means all. */
      filter: object;
    },
    options?: CallOptions,
  ): Promise<Array<StateValidator>>;
  /** Balances like get_v1_beacon_states_stateId_validator_balances, for as many ids as one likes. */
  post_v1_beacon_states_stateId_validator_balances(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; balance: Uint64 }>>;
  /** Index, public key and activation epoch of the validators of a state, by ascending index. */
  post_v1_beacon_states_stateId_validator_identities(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Validators by index or public key. Default: all. */
      ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; pubkey: Pubkey; activation_epoch: Uint64 }>>;
  /** The members of a sync committee in order, together and by subcommittee; from altair on. */
  get_v1_beacon_states_stateId_sync_committees(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** By default the epoch of the state. */
      epoch?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ validators: Array<Uint64>; validator_aggregates: Array<Array<Uint64>> }>;
  /** The RANDAO mix of an epoch as a state holds it. */
  get_v1_beacon_states_stateId_randao(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** By default the epoch of the state. */
      epoch?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ randao: Root }>;
  /** The consolidations of validators that a state has in its queue; from electra on. */
  get_v1_beacon_states_stateId_pending_consolidations(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ source_index: Uint64; target_index: Uint64 }>>;
  /** The deposits that a state has in its queue; from electra on. */
  get_v1_beacon_states_stateId_pending_deposits(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<
    Array<{ pubkey: Pubkey; withdrawal_credentials: Root; amount: Uint64; signature: Signature; slot: Uint64 }>
  >;
  /** The partial withdrawals that a state has in its queue; from electra on. */
  get_v1_beacon_states_stateId_pending_partial_withdrawals(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; amount: Uint64; withdrawable_epoch: Uint64 }>>;
  /** The proposers of the state's epoch and of the next one, slot by slot; from fulu on. */
  get_v1_beacon_states_stateId_proposer_lookahead(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Uint64>>;
  /** Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast. */
  post_v2_beacon_blocks(
    params: {
      /** A signed block of the fork of its slot; from Deneb to Fulu together with its blobs. */
      signed_block_or_contents: object;
      /** The rules that a block must pass to be broadcast; one that fails is rejected. By default those of gossip. */
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
  /** Takes a signed block without its payload, which is one that the node knows or comes from its builder; before bellatrix the block itself. Answers like post_v2_beacon_blocks; from fulu on the builder broadcasts its block, which is then 202. */
  post_v2_beacon_blinded_blocks(
    params: {
      /** A signed blinded block of the fork of its slot. */
      signed_blinded_block: object;
      /** The rules that a block must pass to be broadcast; one that fails is rejected. By default those of gossip. */
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
  /** A signed block with the header of its payload instead of the payload; before bellatrix the block itself. */
  get_v1_beacon_blinded_blocks_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<SignedBeaconBlock>;
  /** The attestations that a block includes, in its order, with the fork that they belong to. */
  get_v2_beacon_blocks_blockId_attestations(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** The blobs of a block, in the order of its commitments; none before deneb. From fulu on they are made of columns, of which the node has to have half. */
  get_v1_beacon_blobs_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Only the blobs with these versioned hashes; by default all. */
      versioned_hashes?: Array<string>;
    },
    options?: CallOptions,
  ): Promise<Array<string>>;
  /** The blobs of a block with their proofs; none before deneb. From fulu on they are made of columns, as those of get_v1_beacon_blobs_blockId. */
  get_v1_beacon_blob_sidecars_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Only the blobs with these indices, where the block has them; by default all. */
      indices?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<object>>;
  /** The withdrawals that a block on a state has to include; from capella on. */
  get_v1_builder_states_stateId_expected_withdrawals(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** The slot of the block, at most 2 epochs past the state; by default the one after the state's. */
      proposal_slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; validator_index: Uint64; address: Address; amount: Uint64 }>>;
  /** What a block paid its proposer, by what the block includes. Phase0 pays for attestations later, as part of the attestation rewards of their epoch. */
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
  /** What the members of the sync committee earned or lost by a block; nobody before altair. */
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
      /** An amount in Gwei; a loss is negative. */
      reward: string;
    }>
  >;
  /** What validators earned or lost by their attestations of an epoch, and what they could have earned, by effective balance. */
  post_v1_beacon_rewards_attestations_epoch(
    params: {
      /** The epoch of the attestations. The last slot of the next epoch must have passed, or have a block. */
      epoch: string | number;
      /** Validators by index or public key. Default: all. */
      validator_ids?: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<{
    ideal_rewards: Array<{
      effective_balance: Uint64;
      /** An amount in Gwei; a loss is negative. */
      head: string;
      /** An amount in Gwei; a loss is negative. */
      target: string;
      /** An amount in Gwei; a loss is negative. */
      source: string;
      /** An amount in Gwei; a loss is negative. */
      inactivity: string;
      inclusion_delay?: Uint64;
    }>;
    total_rewards: Array<{
      validator_index: Uint64;
      /** An amount in Gwei; a loss is negative. */
      head: string;
      /** An amount in Gwei; a loss is negative. */
      target: string;
      /** An amount in Gwei; a loss is negative. */
      source: string;
      /** An amount in Gwei; a loss is negative. */
      inactivity: string;
      inclusion_delay?: Uint64;
    }>;
  }>;
  /** The tree of the deposits that are final, in short (EIP-4881). */
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
  /** The builders of a state. They come with gloas, which the node does not support. */
  post_v1_beacon_states_stateId_builders(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
      /** Only builders with these ids and statuses; a list left out means all. */
      filter?: object;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Takes the bid of a builder. Bids come with gloas, which the node does not support. */
  post_v1_beacon_execution_payload_bids(
    params: {
      /** The bid, signed by its builder. */
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
  /** Takes the payload of a block. Payloads come apart from blocks with gloas, which the node does not support. */
  post_v1_beacon_execution_payload_envelopes(
    params: {
      /** The envelope, signed by its builder, alone or together with the blobs. */
      signed_envelope_or_contents: object;
      /** The rules that it must pass to be broadcast. */
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
      /** Whether the blobs came with it. */
      blob_data_included?: boolean;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** The payload of a block in its envelope. Envelopes come with gloas, which the node does not support. */
  get_v1_beacon_execution_payload_envelopes_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Attestations to the timeliness of payloads. They come with gloas, which the node does not support. */
  get_v1_beacon_pool_payload_attestations(
    params?: {
      /** Only those of this slot. */
      slot?: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Takes attestations to the timeliness of payloads. They come with gloas, which the node does not support. */
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
  /** Takes attestations of single validators; each is judged by itself. */
  post_v1_beacon_pool_attestations(
    params: {
      /** Each one an attestation with one aggregation bit or, since Electra, a single attestation. */
      attestations: object | Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attester slashings that wait to be included in a finalized block. */
  get_v1_beacon_pool_attester_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<AttesterSlashing>>;
  /** Takes an attester slashing. */
  post_v1_beacon_pool_attester_slashings(
    params: {
      attester_slashing: AttesterSlashing;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Proposer slashings that wait to be included in a finalized block. */
  get_v1_beacon_pool_proposer_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<ProposerSlashing>>;
  /** Takes a proposer slashing. */
  post_v1_beacon_pool_proposer_slashings(
    params: {
      proposer_slashing: ProposerSlashing;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Voluntary exits that wait to be included in a finalized block. */
  get_v1_beacon_pool_voluntary_exits(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<SignedVoluntaryExit>>;
  /** Takes a signed voluntary exit. */
  post_v1_beacon_pool_voluntary_exits(
    params: {
      signed_voluntary_exit: SignedVoluntaryExit;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Attestations that the node holds, each in the form of its fork. */
  get_v1_beacon_pool_attestations(
    params?: {
      /** Only those of this slot. */
      slot?: string | number;
      /** Only those of committees with this index. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Attestations that the node holds, all in the form of one fork. */
  get_v2_beacon_pool_attestations(
    params?: {
      /** Only those of this slot, in the form of its fork; by default in that of the current slot. */
      slot?: string | number;
      /** Only those of committees with this index. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<Attestation>>;
  /** Takes attestations of single validators; each is judged by itself. */
  post_v2_beacon_pool_attestations(
    params: {
      /** Each one an attestation with one aggregation bit or, since Electra, a single attestation. */
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
  /** Attester slashings that wait to be included in a finalized block. */
  get_v2_beacon_pool_attester_slashings(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<AttesterSlashing>>;
  /** Takes an attester slashing. */
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
  /** Changes of withdrawal credentials that wait to be included in a finalized block; none before capella. */
  get_v1_beacon_pool_bls_to_execution_changes(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<
    Array<{
      message: { validator_index: Uint64; from_bls_pubkey: Pubkey; to_execution_address: Address };
      signature: Signature;
    }>
  >;
  /** Takes changes of withdrawal credentials, each judged by itself; from capella on. */
  post_v1_beacon_pool_bls_to_execution_changes(
    params: {
      /** The changes, each signed with the validator's withdrawal key. */
      signed_changes: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Who the node is on the network: its id, its record, its addresses and its metadata. */
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
  /** The known peers, all or those in certain states of connection. */
  get_v1_node_peers(
    params?: {
      /** Only peers in one of these states. */
      state?: Array<"disconnected" | "connecting" | "connected" | "disconnecting">;
      /** Only peers that were connected this way. */
      direction?: Array<"inbound" | "outbound">;
    },
    options?: CallOptions,
  ): Promise<Array<Peer>>;
  /** One known peer. */
  get_v1_node_peers_peerId(
    params: {
      /** The peer's id, in base58btc or as a CIDv1 in base32. */
      peer_id: string;
    },
    options?: CallOptions,
  ): Promise<Peer>;
  /** How many peers are in each state of connection. */
  get_v1_node_peer_count(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ disconnected: Uint64; connecting: Uint64; connected: Uint64; disconnecting: Uint64 }>;
  /** The node's name, version and platform. */
  get_v1_node_version(params?: Record<string, never>, options?: CallOptions): Promise<{ version: string }>;
  /** Whether the node is syncing, and how far its head is behind the clock then. */
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
  /** The node's health as an HTTP status: 200 when it is ready, 206 when it is syncing. */
  get_v1_node_health(
    params?: {
      /** The status to answer instead of 206 while syncing. */
      syncing_status?: number;
    },
    options?: CallOptions,
  ): Promise<{ health: number }>;
  /** Which client the node is, and which its execution client, if that tells. */
  get_v2_node_version(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    beacon_node: { code: string; name: string; version: string; commit: string };
    execution_client?: { code: string; name: string; version: string; commit: string };
  }>;
  /** Whether the node can be relied upon, and if not, what of it is not in order; REST says so by 200 or 503 too. */
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
  /** When and in which committee validators attest in an epoch. */
  get_v1_validator_duties_attester(
    params: {
      /** The epoch of the duties, at most the one after the current. */
      epoch: string | number;
      /** Public keys or indices of the validators. */
      validators: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<AttesterDuty>>;
  /** When and in which committee validators attest in an epoch. */
  post_v1_validator_duties_attester(
    params: {
      /** The epoch of the duties, at most the one after the current. */
      epoch: string | number;
      /** Public keys or indices of the validators. */
      validators: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<AttesterDuty>>;
  /** Another name of post_v1_validator_duties_attester. */
  post_v1_validator_duties_attester_epoch: Methods["post_v1_validator_duties_attester"];
  /** Who proposes at each slot of an epoch. */
  get_v1_validator_duties_proposer(
    params: {
      /** The epoch of the duties, at most the one after the current. */
      epoch: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<ProposerDuty>>;
  /** Another name of get_v1_validator_duties_proposer. */
  get_v1_validator_duties_proposer_epoch: Methods["get_v1_validator_duties_proposer"];
  /** A new block on the head for its proposer to sign. */
  get_v1_validator_block(
    params: {
      /** The slot of the block, after the head's: the current one, or at most two epochs past the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex; by default what setGraffiti has set. */
      graffiti?: string;
      /** Takes the point at infinity in place of a reveal. */
      skip_randao_verification?: boolean;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock | { block: BeaconBlock; kzg_proofs: Array<string>; blobs: Array<string> }>;
  /** Another name of get_v1_validator_block. */
  get_v2_validator_blocks_slot: Methods["get_v1_validator_block"];
  /** Another name of get_v1_validator_block. */
  get_v1_validator_blocks_slot: Methods["get_v1_validator_block"];
  /** Takes a signed block; true when it was broadcast and imported. */
  post_v1_validator_block(
    params: {
      /** A signed block of the fork of its slot; from Deneb to Fulu together with its blobs. */
      signed_block: object;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** What a committee's members should sign at a slot. */
  get_v1_validator_attestation_data(
    params: {
      /** The slot of the attestation, at most the one after the current. */
      slot: string | number;
      /** The committee at the slot; may be left out from electra on. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<AttestationData>;
  /** Another name of get_v1_validator_attestation_data. */
  get_v1_validator_attestation(
    params: {
      /** The slot of the attestation, at most the one after the current. */
      slot: string | number;
      /** The committee at the slot; may be left out from electra on. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<AttestationData>;
  /** The attestation with the most attesters for some attestation data. */
  get_v1_validator_aggregate_attestation(
    params: {
      /** The slot of the attestation data. */
      slot: string | number;
      /** The hash tree root of the attestation data. */
      attestation_data_root: string;
      /** The committee at the slot. From electra on the data does not name it, so that it has to be given where the slot has several. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** As get_v1_validator_aggregate_attestation; also takes one AttestationData in place of slot and root. It has no proof in it. */
  get_v1_validator_aggregate_and_proof(
    params: {
      /** The slot of the attestation data. */
      slot: string | number;
      /** The hash tree root of the attestation data. */
      attestation_data_root: string;
      /** The committee at the slot. From electra on the data does not name it, so that it has to be given where the slot has several. */
      committee_index?: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** Submits aggregates, each signed by its aggregator. */
  post_v1_validator_aggregate_and_proofs(
    params: {
      /** Aggregates in the form of their slot's fork. */
      signed_aggregates: SignedAggregateAndProof | Array<SignedAggregateAndProof>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Another name of post_v1_validator_aggregate_and_proofs. */
  post_v1_validator_aggregate_and_proof(
    params: {
      /** Aggregates in the form of their slot's fork. */
      signed_aggregates: SignedAggregateAndProof | Array<SignedAggregateAndProof>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Tells the node in which committees validators will attest or aggregate. */
  post_v1_validator_beacon_committee_subscriptions(
    params: {
      /** One for each validator and slot. */
      subscriptions: object | Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Which validators sit in the sync committee of an epoch, and where. */
  post_v1_validator_duties_sync_epoch(
    params: {
      /** An epoch of the current or the next sync committee period, or of an earlier one. */
      epoch: string | number;
      /** Indices or public keys of the validators. */
      validator_indices: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ pubkey: Pubkey; validator_index: Uint64; validator_sync_committee_indices: Array<Uint64> }>>;
  /** Another name of post_v1_validator_duties_sync_epoch. */
  post_v1_validator_duties_sync: Methods["post_v1_validator_duties_sync_epoch"];
  /** Who proposes at each slot of an epoch, with the dependent root of one epoch earlier. */
  get_v2_validator_duties_proposer_epoch(
    params: {
      /** The epoch of the duties, at most the one after the current. */
      epoch: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<ProposerDuty>>;
  /** Another name of get_v2_validator_duties_proposer_epoch. */
  get_v2_validator_duties_proposer: Methods["get_v2_validator_duties_proposer_epoch"];
  /** Whether validators were seen to do anything in an epoch. */
  post_v1_validator_liveness_epoch(
    params: {
      /** The current epoch or the one before it. */
      epoch: string | number;
      /** The validators. */
      validator_indices: Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; is_live: boolean }>>;
  /** Another name of post_v1_validator_liveness_epoch. */
  post_v1_validator_liveness: Methods["post_v1_validator_liveness_epoch"];
  /** A new block on the head for its proposer to sign, with what it is worth beside it; blinded, without the payload, where a builder bids more than the node's own payload is worth. */
  get_v3_validator_blocks_slot(
    params: {
      /** The slot of the block, after the head's: the current one, or at most two epochs past the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex; by default what setGraffiti has set. */
      graffiti?: string;
      /** Takes the point at infinity in place of a reveal. */
      skip_randao_verification?: boolean;
      /** Percentage by which a builder's bid is weighed against the node's own payload: 0 prefers the own, 2^64-1 the builder's; by default what --builder-boost-factor says. */
      builder_boost_factor?: string | number;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock | { block: BeaconBlock; kzg_proofs: Array<string>; blobs: Array<string> }>;
  /** Another name of get_v3_validator_blocks_slot. */
  get_v3_validator_block: Methods["get_v3_validator_blocks_slot"];
  /** A new block with the header of its payload instead of the payload, which may be a builder's; before bellatrix the block itself. */
  get_v1_validator_blinded_blocks_slot(
    params: {
      /** The slot of the block, after the head's: the current one, or at most two epochs past the head. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex; by default what setGraffiti has set. */
      graffiti?: string;
      /** Takes the point at infinity in place of a reveal. */
      skip_randao_verification?: boolean;
    },
    options?: CallOptions,
  ): Promise<BeaconBlock>;
  /** The attestation of a committee with the most attesters for some attestation data. */
  get_v2_validator_aggregate_attestation(
    params: {
      /** The slot of the attestation data. */
      slot: string | number;
      /** The hash tree root of the attestation data. */
      attestation_data_root: string;
      /** The committee at the slot. */
      committee_index: string | number;
    },
    options?: CallOptions,
  ): Promise<Attestation>;
  /** Submits aggregates, each signed by its aggregator. */
  post_v2_validator_aggregate_and_proofs(
    params: {
      /** Aggregates in the form of their slot's fork. */
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
  /** Submits messages of sync committee members, each signing a head. */
  post_v1_beacon_pool_sync_committees(
    params: {
      /** The signed messages. */
      messages: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** The contribution of a sync subcommittee with the most signers for a block. */
  get_v1_validator_sync_committee_contribution(
    params: {
      /** The slot in which the members signed. */
      slot: string | number;
      /** The subcommittee. */
      subcommittee_index: string | number;
      /** The block that they signed. */
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
  /** Tells the node where the fees of validators' blocks are to go, for this epoch and two more. */
  post_v1_validator_prepare_beacon_proposer(
    params: {
      /** One for each validator. */
      preparations: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Registers validators for builders, each judged by itself; the node passes this on to its builder, if it has one. */
  post_v1_validator_register_validator(
    params: {
      /** One for each validator. */
      signed_registrations: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Tells the node in which sync subcommittees validators take part. */
  post_v1_validator_sync_committee_subscriptions(
    params: {
      /** One for each validator. */
      subscriptions: Array<object>;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Combines selection proofs of distributed validators; only their middleware supports it. */
  post_v1_validator_beacon_committee_selections(
    params: {
      /** The partial selection proofs. */
      selections: Array<object>;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; slot: Uint64; selection_proof: Signature }>>;
  /** Combines sync committee selection proofs of distributed validators; only their middleware supports it. */
  post_v1_validator_sync_committee_selections(
    params: {
      /** The partial selection proofs. */
      selections: Array<object>;
    },
    options?: CallOptions,
  ): Promise<Array<{ validator_index: Uint64; slot: Uint64; subcommittee_index: Uint64; selection_proof: Signature }>>;
  /** Who judges the timeliness of payloads. This comes with gloas, which the node does not support. */
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
  /** A new block without its payload. Such blocks come with gloas, which the node does not support. */
  get_v4_validator_blocks_slot(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The proposer's signature over the epoch. */
      randao_reveal: string;
      /** At most 32 bytes of text or hex. */
      graffiti?: string;
      /** Takes the point at infinity in place of a reveal. */
      skip_randao_verification?: boolean;
      /** Whether the payload is to come with the block. */
      include_payload?: boolean;
      /** How much a builder's bid counts, in percent. */
      builder_boost_factor?: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Another name of get_v4_validator_blocks_slot. */
  get_v4_validator_block: Methods["get_v4_validator_blocks_slot"];
  /** What to sign on the timeliness of a payload. This comes with gloas, which the node does not support. */
  get_v1_validator_payload_attestation_data(
    params: {
      /** The slot of the payload. */
      slot: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Takes what proposers want of builders. This comes with gloas, which the node does not support. */
  post_v1_validator_proposer_preferences(
    params: {
      /** One for each proposal. */
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
  /** The bid of a builder to sign. Bids come with gloas, which the node does not support. */
  get_v1_validator_execution_payload_bids_slot_builderIndex(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The builder. */
      builder_index: string | number;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** The payload of a block to sign. Envelopes come with gloas, which the node does not support. */
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot(
    params: {
      /** The slot of the block. */
      slot: string | number;
      /** The block. */
      beacon_block_root: string;
    },
    options?: CallOptions,
  ): Promise<unknown>;
  /** Every scheduled fork, past and to come. */
  get_v1_config_fork_schedule(params?: Record<string, never>, options?: CallOptions): Promise<Array<Fork>>;
  /** Constants, preset and configuration that the node runs with. */
  get_v1_config_spec(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Record<string, string | Array<unknown>>>;
  /** Chain and address of the deposit contract. */
  get_v1_config_deposit_contract(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ chain_id: Uint64; address: Address }>;
  /** The object of get_v1_config_spec, with the preset's constants also under their lower case names. */
  getSpecPreset(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Record<string, string | Array<unknown>>>;
  /** A whole state in the form of its fork. */
  get_v1_debug_beacon_states_stateId(
    params: {
      /** State id: head, genesis, finalized, justified, a slot or a state root. */
      state_id: string | number;
    },
    options?: CallOptions,
  ): Promise<BeaconState>;
  /** Another name of get_v1_debug_beacon_states_stateId. */
  get_v2_debug_beacon_states_stateId: Methods["get_v1_debug_beacon_states_stateId"];
  /** Every leaf of the fork-choice tree, with its payload's status. */
  get_v2_debug_beacon_heads(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ root: Root; slot: Uint64; execution_optimistic: boolean }>>;
  /** Every leaf of the fork-choice tree. */
  get_v1_debug_beacon_heads(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ root: Root; slot: Uint64 }>>;
  /** The checkpoints of fork choice and every block that it considers, with the weight behind it in Gwei. */
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
  /** Those of the data columns of a block that the node has; none before fulu. */
  get_v1_debug_beacon_data_column_sidecars_blockId(
    params: {
      /** Block id: head, genesis, finalized, a slot or a block root. */
      block_id: string | number;
      /** Only these columns, where the node has them; by default all that it has. */
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
  /** The connected peers, with what they told about themselves and their scores. */
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
  /** Whether the node is syncing. */
  getSyncing(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** The node's own peer id. */
  getNetworkPeerId(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** The peer ids of the connected peers. */
  getNetworkPeers(params?: Record<string, never>, options?: CallOptions): Promise<Array<string>>;
  /** The node's own record (ENR) as text. */
  getNetworkEnr(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** The signed block of a slot or with a root, or null when there is none. */
  getBeaconBlock(
    params?: {
      /** The slot of a canonical block; any other block id is taken too. */
      slot?: string | number;
      /** The root of a block, when no slot is given. */
      root?: string;
    },
    options?: CallOptions,
  ): Promise<SignedBeaconBlock | null>;
  /** The state at a slot or with a root, or null when there is none. */
  getBeaconState(
    params?: {
      /** A slot of the canonical chain; any other state id is taken too. */
      slot?: string | number;
      /** The root of a state, when no slot is given. */
      root?: string;
    },
    options?: CallOptions,
  ): Promise<BeaconState | null>;
  /** Changes what is logged, at once and for the whole process. */
  setLogLevel(
    params: {
      /** A level, then KEY:topic,topic parts separated by ;. */
      log_spec: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Sets the graffiti of blocks that are produced without one of their own. */
  setGraffiti(
    params: {
      /** At most 32 bytes of text or hex. */
      graffiti: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** The blocks of the deposit chain that are candidates for votes, oldest first. */
  getEth1Chain(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Array<{ number: Uint64; timestamp: Uint64; deposits: Array<DepositData>; voteData: Eth1Data }>>;
  /** The vote on the deposit chain and the deposits of a block of the current slot. */
  getEth1ProposalData(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{ vote: Eth1Data; deposits: Array<Deposit>; hasMissingDeposits: boolean }>;
  /** The promises of the process that are pending, when the node was started with --track-futures. */
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
  /** How many validators there are by the head's state, how much they have at stake, and how much of that votes. */
  getParticipation(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    epoch: Uint64;
    validators: Uint64;
    active_validators: Uint64;
    active_balance: Uint64;
    /** Of the active stake, the part whose votes of this epoch are on chain. */
    current_epoch: number;
    /** The same of the epoch before; null in the first one. */
    previous_epoch: number | null;
    /** Of the sync committee, the part that signed for the block before the head; null before altair. */
    sync_committee: number | null;
  }>;
  /** What time it is on the chain and on the wall. On a network they are the same; the time of a dev chain is its own. */
  getChainTime(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** Unix seconds by the chain's clock, with milliseconds. */ chain_time: string;
    /** Unix seconds by the time of day, with milliseconds. */
    wall_time: string;
    /** Seconds by which chain time is ahead of the time of day; negative when it is behind. */
    offset: string;
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
    slot: Uint64;
    wall_slot: Uint64;
    /** In chain time; before genesis until the first slot. */
    seconds_to_next_slot: string;
  }>;
  /** The sync committee at a block that a light client trusts, with its proof. */
  get_v1_beacon_light_client_bootstrap_blockRoot(
    params: {
      /** A block of the canonical chain, altair's or a later one. */
      block_root: string;
    },
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the header of the execution payload and its proof. */
    header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    current_sync_committee: { pubkeys: Array<Pubkey>; aggregate_pubkey: Pubkey };
    current_sync_committee_branch: Array<Root>;
  }>;
  /** The best light client update of each of several sync committee periods, each with its fork. */
  get_v1_beacon_light_client_updates(
    params: {
      /** The first sync committee period. */
      start_period: string | number;
      /** How many periods; of more than 128 only the first ones are given. */
      count: string | number;
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      version: string;
      data: {
        /** From capella on with the header of the execution payload and its proof. */
        attested_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
        sync_aggregate: { sync_committee_bits: Bits; sync_committee_signature: Signature };
        signature_slot: Uint64;
        /** From capella on with the header of the execution payload and its proof. */
        finalized_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
        finality_branch: Array<Root>;
        next_sync_committee: { pubkeys: Array<Pubkey>; aggregate_pubkey: Pubkey };
        next_sync_committee_branch: Array<Root>;
      };
    }>
  >;
  /** The newest header that a sync committee signed, with the finalized one that it proves. */
  get_v1_beacon_light_client_finality_update(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the header of the execution payload and its proof. */
    attested_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    sync_aggregate: { sync_committee_bits: Bits; sync_committee_signature: Signature };
    signature_slot: Uint64;
    /** From capella on with the header of the execution payload and its proof. */
    finalized_header: { beacon: BeaconBlockHeader; execution?: object; execution_branch?: Array<Root> };
    finality_branch: Array<Root>;
  }>;
  /** The newest header that a sync committee signed. */
  get_v1_beacon_light_client_optimistic_update(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** From capella on with the header of the execution payload and its proof. */
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
  /** Lets slots pass at once, with all that validators do in them: one, as many as are given, or until something holds. */
  dev_advance(
    params?: {
      /** How many slots; by default one. */
      slots?: string | number;
      /** How many epochs, instead of slots. */
      epochs?: string | number;
      /** What is to hold after the last slot, instead of a number; given up after `limit` slots. */
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
      /** How many slots `until` may take; by default 65536. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** Lets slots pass at once in which nobody proposes or attests, as if all validators were offline. */
  dev_skip(
    params?: {
      /** How many slots; by default one. */
      slots?: string | number;
      /** How many epochs, instead of slots. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** Lets chain time stand still, after what validators do in the current slot, until dev_resume. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** Lets chain time flow on, as fast as it did before. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** Sets how fast chain time flows; 0 lets it stand still, so that the chain goes on only when it is told to. */
  dev_setSpeed(
    params: {
      /** Seconds of chain time in a second of real time. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** Which of the validators whose keys the chain has are online, that is, do their duties. */
  dev_getValidators(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** The validators that do their duties, by index. */ online: Array<Uint64>;
    /** The others whose keys the chain has. */
    offline: Array<Uint64>;
  }>;
  /** Says which validators are online, from the next slot on and beyond a restart: those that are given and no others, or all but those. */
  dev_setValidators(
    params?: {
      /** Who is online. A fraction is spread evenly over the indices. */
      online?: "all" | "none" | string | number | Array<string | number>;
      /** Who is offline, instead. */
      offline?: "all" | "none" | string | number | Array<string | number>;
    },
    options?: CallOptions,
  ): Promise<{
    /** The validators that do their duties, by index. */ online: Array<Uint64>;
    /** The others whose keys the chain has. */
    offline: Array<Uint64>;
  }>;
  /** Replaces the last blocks by another branch, slot by slot: validators build on the block before them and vote for what they built, until fork choice follows. */
  dev_reorg(
    params?: {
      /** How many blocks; by default one. */
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
      /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
      speed: number;
    };
  }>;
  /** Lets two branches grow side by side, slot by slot the shorter one. Without a depth those of the call before go on, while fork choice can still choose either. Afterwards all follow the head again. */
  dev_fork(
    params?: {
      /** How many blocks before the head a new branch begins; by default one, if there are no two yet. */
      depth?: string | number;
      /** How many slots; by default two. */
      slots?: string | number;
      /** Which branch validators vote for; by default "split", every second one for the new branch. */
      votes?: "old" | "new" | "split" | number;
    },
    options?: CallOptions,
  ): Promise<{
    old_branch: { head: { slot: Uint64; root: Root }; weight: Uint64 };
    new_branch: { head: { slot: Uint64; root: Root }; weight: Uint64 };
    common_ancestor: { slot: Uint64; root: Root };
    /** The branch of the head. */
    head: "old" | "new";
    position: {
      slot: Uint64;
      epoch: Uint64;
      head_slot: Uint64;
      head_block_root: Root;
      justified_epoch: Uint64;
      finalized_epoch: Uint64;
      /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
      speed: number;
    };
  }>;
  /** Lets the blocks of the next slots come after attesting was due: without proposer boost, and without a vote in the slot in which they come. */
  dev_delayBlocks(
    params?: {
      /** Of how many slots, from the next one on; by default one. 0 ends a delay. */
      slots?: string | number;
      /** How long after the beginning of a slot; by default halfway between when attesting is due and the end of the slot. */
      seconds?: number;
      /** How many slots after its own a block comes; by default 0. The next proposers do not know of it until then. */
      slots_late?: string | number;
    },
    options?: CallOptions,
  ): Promise<{ from_slot: Uint64; until_slot: Uint64; seconds: number; slots_late: Uint64 }>;
  /** Has validators sign what they are slashed for: two blocks of one slot, or two votes for one target. */
  dev_slash(
    params: {
      /** One validator or several. */
      validators: string | number | Array<string | number>;
      /** What they sign; by default blocks. */
      kind?: "proposer" | "attester";
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
      /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
      status: "pooled" | "queued" | "logged";
      /** What was made, in the JSON of the standard. */
      data: object;
    }>
  >;
  /** Has a validator sign its voluntary exit. */
  dev_exit(
    params: {
      /** The validator, by its index or public key. */
      validator: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
    status: "pooled" | "queued" | "logged";
    /** What was made, in the JSON of the standard. */
    data: object;
  }>;
  /** Asks for the withdrawal of a part of a validator's balance, or for its exit, as its withdrawal address does by a request of the execution layer (EIP-7002). */
  dev_withdraw(
    params: {
      /** The validator, by its index or public key. */
      validator: string | number;
      /** In Gwei, of what is above 32 ETH; at most all of that is paid out. 0 or left out, the validator exits. */
      amount?: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
    status: "pooled" | "queued" | "logged";
    /** What was made, in the JSON of the standard. */
    data: object;
  }>;
  /** Changes a validator's withdrawal credentials: from a BLS key to an address by a signed change, and from there to those that compound by a request of the execution layer (EIP-7251). */
  dev_changeCredentials(
    params: {
      /** The validator, by its index or public key. */
      validator: string | number;
      /** The address that the credentials are to name; one that is there stays. */
      address?: string;
      /** The first byte of the credentials; by default "0x01". */
      type?: "0x01" | "0x02";
    },
    options?: CallOptions,
  ): Promise<{
    /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
    status: "pooled" | "queued" | "logged";
    /** What was made, in the JSON of the standard. */
    data: object;
  }>;
  /** Asks for the consolidation of a validator into another, as its withdrawal address does by a request of the execution layer (EIP-7251): it exits, and its balance moves to the other. */
  dev_consolidate(
    params: {
      /** The validator that leaves, by its index or public key; it needs execution credentials. */
      source: string | number;
      /** The one that stays; it needs compounding credentials. */
      target: string | number;
    },
    options?: CallOptions,
  ): Promise<{
    /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
    /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
    status: "pooled" | "queued" | "logged";
    /** What was made, in the JSON of the standard. */
    data: object;
  }>;
  /** Makes deposits: for new validators, with the next of the chain's keys, or for one that is there. Once active, new ones do their duties like the others. */
  dev_deposit(
    params?: {
      /** The validator whose balance is to rise; by default a new one enters. */
      validator?: string | number;
      /** In Gwei, of each deposit; by default 32 ETH. */
      amount?: string | number;
      /** How many new validators are to enter; by default one. */
      count?: number;
      /** By default those that a new validator's own key controls, or those that the validator has. */
      withdrawal_credentials?: string;
      /** Whether the signature is a wrong one, so that nobody enters; for a validator that is there nobody looks at it. */
      bad_signature?: boolean;
    },
    options?: CallOptions,
  ): Promise<
    Array<{
      /** What was made, in the words of the standard, such as voluntary_exit or withdrawal_request. */ type: string;
      /** Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the deposit chain, for which validators vote. */
      status: "pooled" | "queued" | "logged";
      /** What was made, in the JSON of the standard. */
      data: object;
    }>
  >;
  /** Takes a snapshot of the whole chain, to which dev_revert goes back: blocks, states, fork choice, pools, time and what validators have signed. There may be any number of them; they live as long as the process. */
  dev_snapshot(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Another name of dev_snapshot. */
  evm_snapshot: Methods["dev_snapshot"];
  /** Another name of dev_snapshot. */
  anvil_snapshot: Methods["dev_snapshot"];
  /** Makes the chain what it was when a snapshot was taken, whatever became final since. The snapshot and those taken after it are forgotten. */
  dev_revert(
    params: {
      /** The id that dev_snapshot gave. */
      id: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Another name of dev_revert. */
  evm_revert: Methods["dev_revert"];
  /** Another name of dev_revert. */
  anvil_revert: Methods["dev_revert"];
  /** Dumps the whole chain into one file: blocks, states, votes, pools, time and what validators have signed. The answer is the file, or where it is when it was given a name. */
  dev_dump(
    params?: {
      /** The name of a new file in the directory `dumps` of the data directory. */
      file?: string;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Puts the chain of a dump in the place of the one that there is. It must have begun with the same genesis and the same configuration; `fanal db import` makes a data directory of any dump. */
  dev_load(
    params?: {
      /** The dump. */
      dump?: string;
      /** The name of a file in the directory `dumps` of the data directory, instead of a dump. */
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
    /** Seconds of chain time in a second of real time; 0 while chain time stands still. */
    speed: number;
  }>;
  /** The keys of the chain's validators, the secret ones too, and where their withdrawals go: of all that it began with or that entered by dev_deposit, or from one index to another. */
  dev_keys(
    params?: {
      /** The index of the first validator; by default 0. */
      first?: string | number;
      /** The index of the last validator; by default that of the last. */
      last?: string | number;
    },
    options?: CallOptions,
  ): Promise<Array<{ index: Uint64; pubkey: Pubkey; secret_key: Root; withdrawal_credentials: Root }>>;
  /** The head of the chain in the words of Anvil. */
  anvil_nodeInfo(
    params?: Record<string, never>,
    options?: CallOptions,
  ): Promise<{
    /** The slot of the head. */ currentBlockNumber: string;
    /** When that slot begins, in Unix seconds. */
    currentBlockTimestamp: number;
    currentBlockHash: Root;
    /** The fork of the head. */
    hardFork: string;
    environment: {
      /** The id of the deposit contract's chain. */ chainId: number;
    };
  }>;
  /** Lets slots with blocks pass at once: one, or as many as are given. */
  anvil_mine(
    params?: {
      /** How many blocks; by default one. */
      blocks?: string | number;
      /** How many seconds each is to be after the one before: slots between stay empty where that is longer than a slot. */
      interval?: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of anvil_mine. */
  hardhat_mine: Methods["anvil_mine"];
  /** Lets slots with blocks pass at once: one, as many as are given, or the first when a certain slot begins. */
  evm_mine(
    params?: {
      /** When the slot of the first block begins, in Unix seconds; those before stay empty. */
      timestamp?: string | number;
      /** How many blocks; by default one. */
      blocks?: string | number;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Lets as many slots pass at once as fit into a time, all of them empty. */
  evm_increaseTime(
    params: {
      /** How long the time is. */
      seconds: string | number;
    },
    options?: CallOptions,
  ): Promise<string>;
  /** Another name of evm_increaseTime. */
  anvil_increaseTime: Methods["evm_increaseTime"];
  /** Lets slots pass at once, all of them empty, so that the next one is the one that begins at a certain time. */
  evm_setNextBlockTimestamp(
    params: {
      /** When the slot of the next block begins, in Unix seconds. */
      timestamp: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setNextBlockTimestamp. */
  anvil_setNextBlockTimestamp: Methods["evm_setNextBlockTimestamp"];
  /** Sets how long a slot takes in real time; 0 lets chain time stand still. */
  evm_setIntervalMining(
    params: {
      /** Seconds of real time. */
      interval: number | string;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setIntervalMining. */
  anvil_setIntervalMining: Methods["evm_setIntervalMining"];
  /** How many seconds a slot takes in real time; null while chain time stands still. */
  anvil_getIntervalMining(params?: Record<string, never>, options?: CallOptions): Promise<number | null>;
  /** Lets chain time flow, as fast as it did before, or stand still. */
  evm_setAutomine(
    params: {
      /** Whether it is to flow. */
      enabled: boolean;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** Another name of evm_setAutomine. */
  anvil_setAutomine: Methods["evm_setAutomine"];
  /** Whether chain time flows. */
  anvil_getAutomine(params?: Record<string, never>, options?: CallOptions): Promise<boolean>;
  /** Another name of anvil_getAutomine. */
  hardhat_getAutomine: Methods["anvil_getAutomine"];
  /** Another name of anvil_getAutomine. */
  eth_mining: Methods["anvil_getAutomine"];
  /** Replaces the last blocks by another branch, as dev_reorg does. */
  anvil_reorg(
    params: {
      /** How many blocks, at least one. */
      depth: string | number;
    },
    options?: CallOptions,
  ): Promise<null>;
  /** The whole chain as dev_dump answers it. */
  anvil_dumpState(params?: Record<string, never>, options?: CallOptions): Promise<string>;
  /** Another name of anvil_dumpState. */
  hardhat_dumpState: Methods["anvil_dumpState"];
  /** Puts the chain that was dumped in the place of the one that there is, as dev_load does. */
  anvil_loadState(
    params: {
      /** What anvil_dumpState or dev_dump answered. */
      state: string;
    },
    options?: CallOptions,
  ): Promise<true>;
  /** Another name of anvil_loadState. */
  hardhat_loadState: Methods["anvil_loadState"];
  /** Lets chain time flow, as fast as it did before. */
  miner_start(params?: Record<string, never>, options?: CallOptions): Promise<null>;
  /** Lets chain time stand still. */
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
  /** Every method, its parameters and its result, as an OpenRPC document. */
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
  "eth_sign",
  "personal_sign",
  "eth_signTypedData_v4",
  "eth_signTypedData",
  "eth_signTransaction",
  "eth_sendTransaction",
  "rpc.discover",
] as const satisfies readonly (keyof Methods)[];
