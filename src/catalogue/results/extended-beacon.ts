import { described, isTrue, list, object, text } from "./json-schema.ts";
import type { ResultForm } from "./result-form.ts";
import { shape } from "./shapes.ts";

const uint64 = shape("Uint64");
const root = shape("Root");
const int64 = { type: "string", pattern: "^(0|-?[1-9][0-9]*)$" };
const anything = (name: string): ResultForm => ({ name, schema: {} });
const status: ResultForm = { name: "status", schema: { type: "integer", enum: [200, 202] } };
const accepted: ResultForm = { name: "accepted", schema: isTrue };

const signedChange = object({
  message: object({
    validator_index: uint64,
    from_bls_pubkey: shape("Pubkey"),
    to_execution_address: shape("Address"),
  }),
  signature: shape("Signature"),
});

/** A loss is negative. */
const voteRewards = { head: int64, target: int64, source: int64, inactivity: int64 };
const phase0Rewards = { inclusion_delay: uint64 };

/** What the operations of the standard answer with that the interface document does not number. */
export const EXTENDED_BEACON: Record<string, ResultForm> = {
  post_v1_beacon_states_stateId_validators: { name: "validators", schema: list(shape("StateValidator")) },
  post_v1_beacon_states_stateId_validator_balances: {
    name: "balances",
    schema: list(object({ index: uint64, balance: uint64 })),
  },
  post_v1_beacon_states_stateId_validator_identities: {
    name: "identities",
    schema: list(object({ index: uint64, pubkey: shape("Pubkey"), activation_epoch: uint64 })),
  },
  get_v1_beacon_states_stateId_sync_committees: {
    name: "sync_committee",
    schema: object({ validators: list(uint64), validator_aggregates: list(list(uint64)) }),
  },
  get_v1_beacon_states_stateId_randao: { name: "randao", schema: object({ randao: root }) },
  get_v1_beacon_states_stateId_pending_consolidations: {
    name: "consolidations",
    schema: list(object({ source_index: uint64, target_index: uint64 })),
  },
  get_v1_beacon_states_stateId_pending_deposits: {
    name: "deposits",
    schema: list(
      object({
        pubkey: shape("Pubkey"),
        withdrawal_credentials: root,
        amount: uint64,
        signature: shape("Signature"),
        slot: uint64,
      }),
    ),
  },
  get_v1_beacon_states_stateId_pending_partial_withdrawals: {
    name: "withdrawals",
    schema: list(object({ validator_index: uint64, amount: uint64, withdrawable_epoch: uint64 })),
  },
  get_v1_beacon_states_stateId_proposer_lookahead: { name: "proposers", schema: list(uint64) },

  post_v2_beacon_blocks: status,
  post_v2_beacon_blinded_blocks: status,
  get_v1_beacon_blinded_blocks_blockId: {
    name: "signed_blinded_block",
    schema: described(
      shape("SignedBeaconBlock"),
      "From bellatrix on with execution_payload_header instead of execution_payload.",
    ),
  },
  get_v2_beacon_blocks_blockId_attestations: { name: "attestations", schema: list(shape("Attestation")) },
  get_v1_beacon_blobs_blockId: { name: "blobs", schema: list(text) },

  get_v1_beacon_rewards_blocks_blockId: {
    name: "rewards",
    schema: object({
      proposer_index: uint64,
      total: uint64,
      attestations: uint64,
      sync_aggregate: uint64,
      proposer_slashings: uint64,
      attester_slashings: uint64,
    }),
  },
  post_v1_beacon_rewards_sync_committee_blockId: {
    name: "rewards",
    schema: list(object({ validator_index: uint64, reward: int64 })),
  },
  post_v1_beacon_rewards_attestations_epoch: {
    name: "rewards",
    schema: object({
      ideal_rewards: list(object({ effective_balance: uint64, ...voteRewards }, phase0Rewards)),
      total_rewards: list(object({ validator_index: uint64, ...voteRewards }, phase0Rewards)),
    }),
  },

  get_v2_beacon_pool_attestations: { name: "attestations", schema: list(shape("Attestation")) },
  post_v2_beacon_pool_attestations: accepted,
  get_v2_beacon_pool_attester_slashings: { name: "slashings", schema: list(shape("AttesterSlashing")) },
  post_v2_beacon_pool_attester_slashings: accepted,
  get_v1_beacon_pool_bls_to_execution_changes: { name: "changes", schema: list(signedChange) },
  post_v1_beacon_pool_bls_to_execution_changes: accepted,

  get_v1_debug_fork_choice: {
    name: "fork_choice",
    schema: object({
      justified_checkpoint: shape("Checkpoint"),
      finalized_checkpoint: shape("Checkpoint"),
      fork_choice_nodes: list(
        object({
          slot: uint64,
          block_root: root,
          parent_root: root,
          justified_epoch: uint64,
          finalized_epoch: uint64,
          weight: uint64,
          validity: { type: "string", enum: ["valid", "invalid", "optimistic"] },
          execution_block_hash: root,
        }),
      ),
    }),
  },
  get_v1_debug_beacon_data_column_sidecars_blockId: { name: "sidecars", schema: list({ type: "object" }) },
  get_v2_node_version: {
    name: "versions",
    schema: object({ beacon_node: object({ code: text, name: text, version: text, commit: text }) }),
  },

  // No chain that the node knows has what these ask for.
  post_v1_beacon_states_stateId_builders: anything("builders"),
  post_v1_beacon_execution_payload_bids: anything("accepted"),
  post_v1_beacon_execution_payload_envelopes: anything("status"),
  get_v1_beacon_execution_payload_envelopes_blockId: anything("envelope"),
  get_v1_beacon_pool_payload_attestations: anything("payload_attestations"),
  post_v1_beacon_pool_payload_attestations: anything("accepted"),
};
