import { ssz } from "@lodestar/types";
import type { Example } from "./example.ts";
import { committeeDuties, signedAttestation } from "./signed-examples.ts";

const given = (...params: unknown[]): Example => ({ params: () => params });
const onFulu = (...params: unknown[]): Example => ({ fork: "fulu", params: () => params });

const { SignedExecutionPayloadBid, SignedExecutionPayloadEnvelope, PayloadAttestationMessage } = ssz.gloas;

/** Calls of the methods about the beacon chain that the interface document does not number. */
export const EXTENDED_BEACON_EXAMPLES: Readonly<Record<string, Example>> = {
  post_v1_beacon_states_stateId_validators: given("head", { ids: ["2", "5"], statuses: ["active"] }),
  post_v1_beacon_states_stateId_validator_balances: given("head", ["0", "1", "2"]),
  post_v1_beacon_states_stateId_validator_identities: given("head", ["0", "1"]),
  get_v1_beacon_states_stateId_sync_committees: onFulu("head"),
  get_v1_beacon_states_stateId_randao: given("head", "3"),
  get_v1_beacon_states_stateId_pending_consolidations: onFulu("head"),
  get_v1_beacon_states_stateId_pending_deposits: onFulu("head"),
  get_v1_beacon_states_stateId_pending_partial_withdrawals: onFulu("head"),
  get_v1_beacon_states_stateId_proposer_lookahead: onFulu("head"),

  post_v2_beacon_blocks: {
    fork: "fulu",
    params: async (chain) => {
      const block = await chain.result("get_v1_beacon_blocks_blockId", "head");
      return [{ signed_block: block, kzg_proofs: [], blobs: [] }, "consensus", "fulu"];
    },
  },
  post_v2_beacon_blinded_blocks: {
    fork: "fulu",
    params: async (chain) => [await chain.result("get_v1_beacon_blinded_blocks_blockId", "head"), "gossip"],
  },
  get_v1_beacon_blinded_blocks_blockId: onFulu("head"),
  get_v2_beacon_blocks_blockId_attestations: given("12"),
  get_v1_beacon_blobs_blockId: onFulu("head"),

  get_v1_beacon_rewards_blocks_blockId: onFulu("12"),
  post_v1_beacon_rewards_sync_committee_blockId: onFulu("12", ["3", "4"]),
  post_v1_beacon_rewards_attestations_epoch: onFulu("2", ["3", "4"]),

  get_v2_beacon_pool_attestations: { params: (chain) => [String(chain.slot)] },
  post_v2_beacon_pool_attestations: {
    params: async (chain) => {
      const [duty] = await committeeDuties(chain, chain.slot);
      return [[await signedAttestation(chain, duty!)], "phase0"];
    },
  },
  get_v2_beacon_pool_attester_slashings: given(),
  post_v2_beacon_pool_attester_slashings: {
    params: ({ operations }) => [ssz.phase0.AttesterSlashing.toJson(operations.doubleVote([3, 4], 4)), "phase0"],
  },
  post_v1_beacon_pool_bls_to_execution_changes: {
    fork: "fulu",
    params: ({ operations }) => {
      const change = operations.credentialsChange(5, new Uint8Array(20).fill(0xfe));
      return [[ssz.capella.SignedBLSToExecutionChange.toJson(change)]];
    },
  },
  get_v1_beacon_pool_bls_to_execution_changes: onFulu(),

  get_v1_debug_fork_choice: onFulu(),
  get_v1_debug_beacon_data_column_sidecars_blockId: onFulu("head"),
  get_v2_node_version: given(),

  post_v1_beacon_states_stateId_builders: onFulu("head"),
  post_v1_beacon_execution_payload_bids: onFulu(
    SignedExecutionPayloadBid.toJson(SignedExecutionPayloadBid.defaultValue()),
  ),
  post_v1_beacon_execution_payload_envelopes: onFulu(
    SignedExecutionPayloadEnvelope.toJson(SignedExecutionPayloadEnvelope.defaultValue()),
  ),
  get_v1_beacon_execution_payload_envelopes_blockId: onFulu("head"),
  get_v1_beacon_pool_payload_attestations: onFulu(),
  post_v1_beacon_pool_payload_attestations: onFulu([
    PayloadAttestationMessage.toJson(PayloadAttestationMessage.defaultValue()),
  ]),
};
