import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import type { MethodCase } from "./method-case.ts";

const UNSUPPORTED = -32004;
const NO_SYNC_COMMITTEES = { [ForkName.phase0]: UNSUPPORTED };
/** Only the middleware of distributed validators combines selection proofs. */
const NO_MIDDLEWARE = { [ForkName.phase0]: UNSUPPORTED, [ForkName.fulu]: UNSUPPORTED };
const NO_GLOAS = NO_MIDDLEWARE;

const given = (...params: unknown[]): MethodCase => ({ params: () => params });
const nothing = given();

/** Calls for validators that the interface document does not number; the votes of the slot are in the pool. */
export const EXTENDED_VALIDATOR_CASES: Readonly<Record<string, MethodCase>> = {
  post_v2_validator_aggregate_and_proofs: {
    params: async (chain) => [[await chain.signedAggregate()], chain.fork],
  },
  post_v1_validator_liveness_epoch: { params: (chain) => [chain.epoch, ["1", 2]] },
  post_v1_validator_prepare_beacon_proposer: {
    ...given([{ validator_index: "1", fee_recipient: `0x${"ab".repeat(20)}` }]),
    refused: { [ForkName.phase0]: UNSUPPORTED },
  },
  post_v1_validator_register_validator: {
    params: (chain) => [[chain.registration()]],
    refused: { [ForkName.phase0]: UNSUPPORTED },
  },
  post_v1_validator_sync_committee_subscriptions: {
    params: (chain) => [
      [{ validator_index: "1", sync_committee_indices: ["0", "31"], until_epoch: String(chain.epoch + 1) }],
    ],
    refused: NO_SYNC_COMMITTEES,
  },
  post_v1_validator_beacon_committee_selections: {
    params: (chain) => [[chain.selection()]],
    refused: NO_MIDDLEWARE,
  },
  post_v1_validator_sync_committee_selections: {
    params: (chain) => [[{ ...chain.selection(), subcommittee_index: "0" }]],
    refused: NO_MIDDLEWARE,
  },

  post_v1_validator_duties_ptc_epoch: { params: (chain) => [chain.epoch, ["1"]], refused: NO_GLOAS },
  get_v4_validator_blocks_slot: {
    params: async (chain) => [chain.slot, await chain.randaoReveal(), "mine", false, true],
    refused: NO_GLOAS,
  },
  get_v1_validator_payload_attestation_data: { params: (chain) => [chain.slot], refused: NO_GLOAS },
  post_v1_validator_proposer_preferences: {
    params: () => {
      const type = ssz.gloas.SignedProposerPreferences;
      return [[type.toJson(type.defaultValue())], "gloas"];
    },
    refused: NO_GLOAS,
  },
  get_v1_validator_execution_payload_bids_slot_builderIndex: {
    params: (chain) => [chain.slot, "0"],
    refused: NO_GLOAS,
  },
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot: {
    params: (chain) => [chain.slot, chain.chain.head.root],
    refused: NO_GLOAS,
  },
};

/** What light clients see of the chain. */
export const LIGHT_CLIENT_CASES: Readonly<Record<string, MethodCase>> = {
  get_v1_beacon_light_client_bootstrap_blockRoot: {
    params: (chain) => [chain.chain.head.root],
    refused: NO_SYNC_COMMITTEES,
  },
  get_v1_beacon_light_client_updates: { ...given("0", 1), refused: NO_SYNC_COMMITTEES },
  get_v1_beacon_light_client_finality_update: { ...nothing, refused: NO_SYNC_COMMITTEES },
  get_v1_beacon_light_client_optimistic_update: { ...nothing, refused: NO_SYNC_COMMITTEES },
};
