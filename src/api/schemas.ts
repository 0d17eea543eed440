import { VALIDATOR_STATUSES } from "../json/validator-status.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Schema of an object with these members. Additional members are allowed, since later forks add some. */
export function object(members: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}): JsonSchema {
  return { type: "object", properties: { ...members, ...optional }, required: Object.keys(members) };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** Schema of an object with arbitrary keys. */
export function dictionary(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}

export function either(...forms: JsonSchema[]): JsonSchema {
  return { anyOf: forms };
}

/** Schema of a value with exactly one of the forms. */
export function oneOf(...forms: JsonSchema[]): JsonSchema {
  return { oneOf: forms };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

export const text: JsonSchema = { type: "string" };
export const number: JsonSchema = { type: "number" };
export const boolean: JsonSchema = { type: "boolean" };
export const nothing: JsonSchema = { type: "null" };
export const isTrue: JsonSchema = { type: "boolean", const: true };

/** Result of submissions. */
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

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const uint64 = reference("Uint64");
const root = reference("Root");
const version = reference("Version");
const pubkey = reference("Pubkey");
const signature = reference("Signature");
const bits = reference("Bits");
const checkpoint = reference("Checkpoint");
const eth1Data = reference("Eth1Data");
const attestation = reference("Attestation");

const ATTESTATION_MEMBERS = { aggregation_bits: bits, data: reference("AttestationData"), signature };

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
  BeaconBlockHeader: object({
    slot: uint64,
    proposer_index: uint64,
    parent_root: root,
    state_root: root,
    body_root: root,
  }),
  SignedBeaconBlockHeader: object({ message: reference("BeaconBlockHeader"), signature }),
  ProposerSlashing: object({
    signed_header_1: reference("SignedBeaconBlockHeader"),
    signed_header_2: reference("SignedBeaconBlockHeader"),
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
  BeaconBlock: object({
    slot: uint64,
    proposer_index: uint64,
    parent_root: root,
    state_root: root,
    body: reference("BeaconBlockBody"),
  }),
  SignedBeaconBlock: object({ message: reference("BeaconBlock"), signature }),
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
  Peer: object({
    peer_id: text,
    enr: either(text, { type: "null" }),
    last_seen_p2p_address: text,
    state: { type: "string", enum: ["disconnected", "connecting", "connected", "disconnecting"] },
    direction: { type: "string", enum: ["inbound", "outbound"] },
  }),
} satisfies Record<string, JsonSchema>;

const hexText = (pattern: string): JsonSchema => ({ type: "string", pattern });
const nullable = (schema: JsonSchema): JsonSchema => either(schema, nothing);

const quantity = reference("Quantity");
const bytes = reference("Bytes");
const hash = reference("Root");
const address = reference("Address");

/** Objects of the execution layer, as execution-apis has them. */
const ETH_OBJECTS = {
  Quantity: described(hexText("^0x(0|[1-9a-f][0-9a-f]*)$"), "An integer in hex without leading zeros."),
  Bytes: described(hexText("^0x([0-9a-f]{2})*$"), "Bytes in hex."),
  EthLog: object({
    address,
    topics: list(hash),
    data: bytes,
    blockNumber: quantity,
    blockHash: hash,
    blockTimestamp: quantity,
    transactionHash: hash,
    transactionIndex: quantity,
    logIndex: quantity,
    removed: boolean,
  }),
  EthTransaction: described(
    object(
      {
        blockHash: nullable(hash),
        blockNumber: nullable(quantity),
        transactionIndex: nullable(quantity),
        from: address,
        hash,
        type: quantity,
        nonce: quantity,
        to: nullable(address),
        gas: quantity,
        value: quantity,
        input: bytes,
        gasPrice: quantity,
        r: quantity,
        s: quantity,
        v: quantity,
      },
      {
        blockTimestamp: quantity,
        chainId: quantity,
        yParity: quantity,
        maxFeePerGas: quantity,
        maxPriorityFeePerGas: quantity,
        maxFeePerBlobGas: quantity,
        blobVersionedHashes: list(hash),
        accessList: list(object({ address, storageKeys: list(hash) })),
        authorizationList: list(
          object({ chainId: quantity, address, nonce: quantity, yParity: quantity, r: quantity, s: quantity }),
        ),
      },
    ),
    "A signed transaction. Its place in a block is null while it is pending.",
  ),
  EthReceipt: object(
    {
      type: quantity,
      transactionHash: hash,
      transactionIndex: quantity,
      blockHash: hash,
      blockNumber: quantity,
      from: address,
      to: nullable(address),
      cumulativeGasUsed: quantity,
      gasUsed: quantity,
      contractAddress: nullable(address),
      logs: list(reference("EthLog")),
      logsBloom: bytes,
      status: quantity,
      effectiveGasPrice: quantity,
    },
    { blobGasUsed: quantity, blobGasPrice: quantity },
  ),
  EthBlock: described(
    object(
      {
        number: quantity,
        hash: nullable(hash),
        parentHash: hash,
        nonce: nullable(bytes),
        mixHash: hash,
        sha3Uncles: hash,
        logsBloom: bytes,
        transactionsRoot: hash,
        stateRoot: hash,
        receiptsRoot: hash,
        miner: nullable(address),
        difficulty: quantity,
        extraData: bytes,
        gasLimit: quantity,
        gasUsed: quantity,
        timestamp: quantity,
        baseFeePerGas: quantity,
        size: quantity,
        transactions: either(list(hash), list(reference("EthTransaction"))),
        uncles: list(hash),
      },
      {
        withdrawalsRoot: hash,
        withdrawals: list(object({ index: quantity, validatorIndex: quantity, address, amount: quantity })),
        blobGasUsed: quantity,
        excessBlobGas: quantity,
        parentBeaconBlockRoot: hash,
        requestsHash: hash,
      },
    ),
    "An execution block. A pending one has neither hash, nonce nor miner.",
  ),
} satisfies Record<string, JsonSchema>;

/** Named schemas of results. */
export const NAMED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...SCALARS,
  ...CHAIN_OBJECTS,
  ...API_OBJECTS,
  ...ETH_OBJECTS,
};

type ShapeName =
  | keyof typeof SCALARS
  | keyof typeof CHAIN_OBJECTS
  | keyof typeof API_OBJECTS
  | keyof typeof ETH_OBJECTS;

export function shape(name: ShapeName): JsonSchema {
  return reference(name);
}
