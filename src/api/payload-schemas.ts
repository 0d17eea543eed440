import { boolean, described, type JsonSchema, list, object, reference } from "./schema-builders.ts";

const uint64 = reference("Uint64");
const root = reference("Root");
const pubkey = reference("Pubkey");
const signature = reference("Signature");
const bits = reference("Bits");
const address = reference("Address");
const bytes = reference("Bytes");
const attestationData = reference("PayloadAttestationData");

const signed = (name: string) => object({ message: reference(name), signature });

/** Objects since gloas, whose blocks have their payloads beside them. */
export const PAYLOAD_OBJECTS = {
  Builder: object({
    pubkey,
    version: uint64,
    execution_address: address,
    balance: uint64,
    deposit_epoch: uint64,
    withdrawable_epoch: uint64,
  }),
  StateBuilder: object({
    index: uint64,
    status: { type: "string", enum: ["pending", "active", "exited"] },
    builder: reference("Builder"),
  }),
  PayloadAttestationData: object({
    beacon_block_root: root,
    slot: uint64,
    payload_present: boolean,
    blob_data_available: boolean,
  }),
  PayloadAttestation: described(
    object({ aggregation_bits: bits, data: attestationData, signature }),
    "Votes of the payload timeliness committee on the payload of a block.",
  ),
  PayloadAttestationMessage: described(
    object({ validator_index: uint64, data: attestationData, signature }),
    "Vote of a member of a payload timeliness committee.",
  ),
  PtcDuty: object({ pubkey, validator_index: uint64, slot: uint64 }),
  ExecutionPayloadGloas: object({
    parent_hash: root,
    fee_recipient: address,
    state_root: root,
    receipts_root: root,
    logs_bloom: bytes,
    prev_randao: root,
    block_number: uint64,
    gas_limit: uint64,
    gas_used: uint64,
    timestamp: uint64,
    extra_data: bytes,
    base_fee_per_gas: uint64,
    block_hash: root,
    transactions: list(bytes),
    withdrawals: list(object({ index: uint64, validator_index: uint64, address, amount: uint64 })),
    blob_gas_used: uint64,
    excess_blob_gas: uint64,
    block_access_list: bytes,
    slot_number: uint64,
  }),
  ExecutionRequestsGloas: object({
    deposits: list(reference("DepositRequest")),
    withdrawals: list(reference("WithdrawalRequest")),
    consolidations: list(reference("ConsolidationRequest")),
    builder_deposits: list(object({ pubkey, withdrawal_credentials: root, amount: uint64, signature })),
    builder_exits: list(object({ source_address: address, pubkey })),
  }),
  ExecutionPayloadBid: described(
    object({
      parent_block_hash: root,
      parent_block_root: root,
      block_hash: root,
      prev_randao: root,
      fee_recipient: address,
      gas_limit: uint64,
      builder_index: uint64,
      slot: uint64,
      value: uint64,
      execution_payment: uint64,
      blob_kzg_commitments: list(bytes),
      execution_requests_root: root,
    }),
    "Commits to a payload. Amounts are in Gwei.",
  ),
  SignedExecutionPayloadBid: signed("ExecutionPayloadBid"),
  ExecutionPayloadEnvelope: described(
    object({
      payload: reference("ExecutionPayloadGloas"),
      execution_requests: reference("ExecutionRequestsGloas"),
      builder_index: uint64,
      beacon_block_root: root,
      parent_beacon_block_root: root,
    }),
    "Reveals the payload of a block.",
  ),
  SignedExecutionPayloadEnvelope: signed("ExecutionPayloadEnvelope"),
  SignedProposerPreferences: object({
    message: object({
      dependent_root: root,
      proposal_slot: uint64,
      validator_index: uint64,
      fee_recipient: address,
      target_gas_limit: uint64,
    }),
    signature,
  }),
} satisfies Record<string, JsonSchema>;
