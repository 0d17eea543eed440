export type Hex = `0x${string}`;

export interface BlockJson {
  message: {
    slot: string;
    proposer_index: string;
    parent_root: Hex;
    state_root: Hex;
    body: {
      /** Before gloas. */
      execution_payload?: PayloadJson;
      execution_requests?: RequestsJson;
      deposits: { data: { amount: string } }[];
      proposer_slashings: unknown[];
      attester_slashings: unknown[];
    };
  };
}

export interface RequestsJson {
  deposits: { pubkey: Hex; amount: string }[];
}

/** Reveals the payload of a block since gloas. */
export interface EnvelopeJson {
  message: { payload: PayloadJson; execution_requests: RequestsJson };
}

export interface PayloadJson {
  parent_hash: Hex;
  fee_recipient: Hex;
  state_root: Hex;
  receipts_root: Hex;
  logs_bloom: Hex;
  prev_randao: Hex;
  block_number: string;
  gas_limit: string;
  gas_used: string;
  timestamp: string;
  extra_data: Hex;
  base_fee_per_gas: string;
  block_hash: Hex;
  transactions: Hex[];
  withdrawals: { index: string; validator_index: string; address: Hex; amount: string }[];
  blob_gas_used?: string;
  excess_blob_gas?: string;
}

export interface EthBlockJson {
  hash: Hex;
  number: Hex;
  parentHash: Hex;
  miner: Hex;
  stateRoot: Hex;
  receiptsRoot: Hex;
  logsBloom: Hex;
  mixHash: Hex;
  gasLimit: Hex;
  gasUsed: Hex;
  timestamp: Hex;
  extraData: Hex;
  baseFeePerGas: Hex;
  withdrawals: { index: Hex; validatorIndex: Hex; address: Hex; amount: Hex }[];
  blobGasUsed?: Hex;
  excessBlobGas?: Hex;
  parentBeaconBlockRoot?: Hex;
  /** Since Amsterdam. */
  blockAccessListHash?: Hex;
  transactions: TransactionJson[];
}

export interface TransactionJson {
  hash: Hex;
  type: Hex;
  from: Hex;
  to: Hex | null;
  nonce: Hex;
  gas: Hex;
  value: Hex;
  gasPrice: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
  maxFeePerBlobGas?: Hex;
  blobVersionedHashes?: Hex[];
}

export interface ReceiptJson {
  type: Hex;
  transactionHash: Hex;
  transactionIndex: Hex;
  blockHash: Hex;
  blockNumber: Hex;
  cumulativeGasUsed: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  contractAddress: Hex | null;
  blobGasUsed?: Hex;
  blobGasPrice?: Hex;
  logs: LogJson[];
  logsBloom: Hex;
  status: Hex;
}

export interface LogJson {
  address: Hex;
  topics: Hex[];
  data: Hex;
  logIndex: Hex;
  transactionHash: Hex;
}

export interface ChainHeadJson {
  head_slot: string;
  head_block_root: Hex;
  finalized_slot: string;
  finalized_block_root: Hex;
  justified_slot: string;
  justified_block_root: Hex;
}

type BySender = Record<string, Record<string, TransactionJson>>;

export interface PoolJson {
  pending: BySender;
  queued: BySender;
}

export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
