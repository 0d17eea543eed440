import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { get, post, type RestTwin } from "../../src/catalogue/entry.ts";
import type { MethodCase } from "./method-case.ts";

const UNSUPPORTED = -32004;
const NOT_IN_PHASE0 = { [ForkName.phase0]: UNSUPPORTED };
const NOWHERE = { [ForkName.phase0]: UNSUPPORTED, [ForkName.fulu]: UNSUPPORTED };

const given = (...params: unknown[]): MethodCase => ({ params: () => params });

/** Operations that are younger than the document of phase0. */
const younger = (operation: RestTwin, variant = 0): MethodCase["twin"] => ({
  [ForkName.phase0]: { document: "v4.0.0", operation, variant },
});
/** Of two forms of votes, the second is that of before Electra. */
const ofVotes = (path: string): MethodCase["twin"] => younger(get(path), 1);

const state = (name: string) => `/eth/v1/beacon/states/{state_id}/${name}`;

/** One call of every method about the beacon chain that the interface document does not number. */
export const EXTENDED_BEACON_CASES: Readonly<Record<string, MethodCase>> = {
  post_v1_beacon_states_stateId_validators: { ...given("head", {}), twin: younger(post(state("validators"))) },
  post_v1_beacon_states_stateId_validator_balances: {
    params: (chain) => ["head", ["1", chain.pubkey(2)]],
    twin: younger(post(state("validator_balances"))),
  },
  post_v1_beacon_states_stateId_validator_identities: {
    params: (chain) => ["head", ["1", chain.pubkey(2)]],
    twin: younger(post(state("validator_identities"))),
  },
  get_v1_beacon_states_stateId_sync_committees: {
    params: (chain) => ["head", chain.epoch],
    refused: NOT_IN_PHASE0,
  },
  get_v1_beacon_states_stateId_randao: { params: (chain) => ["head", chain.epoch - 1] },
  get_v1_beacon_states_stateId_pending_consolidations: { ...given("head"), refused: NOT_IN_PHASE0 },
  get_v1_beacon_states_stateId_pending_deposits: { ...given("head"), refused: NOT_IN_PHASE0 },
  get_v1_beacon_states_stateId_pending_partial_withdrawals: { ...given("head"), refused: NOT_IN_PHASE0 },
  get_v1_beacon_states_stateId_proposer_lookahead: { ...given("head"), refused: NOT_IN_PHASE0 },

  post_v2_beacon_blocks: { params: async (chain) => [await chain.signedBlock(), "consensus", chain.fork] },
  post_v2_beacon_blinded_blocks: {
    params: async (chain) => [await chain.blindedBlock(), "consensus_and_equivocation", chain.fork],
    refused: NOT_IN_PHASE0,
  },
  get_v1_beacon_blinded_blocks_blockId: given("head"),
  get_v2_beacon_blocks_blockId_attestations: {
    params: (chain) => [chain.slot - 1],
    twin: ofVotes("/eth/v2/beacon/blocks/{block_id}/attestations"),
  },
  get_v1_beacon_blobs_blockId: { ...given("head"), refused: NOT_IN_PHASE0 },

  get_v1_beacon_rewards_blocks_blockId: { params: (chain) => [chain.slot - 1], refused: NOT_IN_PHASE0 },
  post_v1_beacon_rewards_sync_committee_blockId: {
    params: (chain) => [chain.slot - 1, ["1", chain.pubkey(2)]],
    refused: NOT_IN_PHASE0,
  },
  post_v1_beacon_rewards_attestations_epoch: {
    params: (chain) => [chain.epoch - 2, ["1", chain.pubkey(2)]],
    refused: NOT_IN_PHASE0,
  },

  post_v2_beacon_pool_attestations: { params: async (chain) => [await chain.attestations(), chain.fork] },
  get_v2_beacon_pool_attestations: {
    params: (chain) => [chain.slot, 0],
    twin: ofVotes("/eth/v2/beacon/pool/attestations"),
  },
  post_v2_beacon_pool_attester_slashings: { params: (chain) => [chain.attesterSlashing(9, 10), chain.fork] },
  get_v2_beacon_pool_attester_slashings: { ...given(), twin: ofVotes("/eth/v2/beacon/pool/attester_slashings") },
  post_v1_beacon_pool_bls_to_execution_changes: {
    params: (chain) => [[chain.credentialsChange(13)]],
    refused: NOT_IN_PHASE0,
  },
  get_v1_beacon_pool_bls_to_execution_changes: { ...given(), refused: NOT_IN_PHASE0 },

  get_v1_debug_fork_choice: { ...given(), twin: younger(get("/eth/v1/debug/fork_choice")) },
  get_v1_debug_beacon_data_column_sidecars_blockId: { ...given("head"), refused: NOT_IN_PHASE0 },
  get_v2_node_version: given(),

  post_v1_beacon_states_stateId_builders: { ...given("head", {}), refused: NOWHERE },
  post_v1_beacon_execution_payload_bids: {
    params: () => {
      const type = ssz.gloas.SignedExecutionPayloadBid;
      return [type.toJson(type.defaultValue())];
    },
    refused: NOWHERE,
  },
  post_v1_beacon_execution_payload_envelopes: {
    params: () => {
      const type = ssz.gloas.SignedExecutionPayloadEnvelope;
      return [type.toJson(type.defaultValue()), "gossip", "gloas", false];
    },
    refused: NOWHERE,
  },
  get_v1_beacon_execution_payload_envelopes_blockId: { ...given("head"), refused: NOWHERE },
  get_v1_beacon_pool_payload_attestations: { ...given(1), refused: NOWHERE },
  post_v1_beacon_pool_payload_attestations: {
    params: () => {
      const type = ssz.gloas.PayloadAttestationMessage;
      return [[type.toJson(type.defaultValue())], "gloas"];
    },
    refused: NOWHERE,
  },
};
