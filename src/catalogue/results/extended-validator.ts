import { boolean, either, isTrue, list, object, text } from "./json-schema.ts";
import type { ResultForm } from "./result-form.ts";
import { shape } from "./shapes.ts";

const uint64 = shape("Uint64");
const accepted: ResultForm = { name: "accepted", schema: isTrue };
const anything = (name: string): ResultForm => ({ name, schema: {} });

export const proposerDuties: ResultForm = { name: "duties", schema: list(shape("ProposerDuty")) };
export const producedBlock: ResultForm = {
  name: "block",
  schema: either(
    shape("BeaconBlock"),
    object({ block: shape("BeaconBlock"), kzg_proofs: list(text), blobs: list(text) }),
  ),
};

/** What the operations of the standard for validators answer with that the interface document does not number. */
export const EXTENDED_VALIDATOR: Record<string, ResultForm> = {
  get_v2_validator_duties_proposer_epoch: proposerDuties,
  get_v3_validator_blocks_slot: producedBlock,
  post_v2_validator_aggregate_and_proofs: accepted,
  post_v1_validator_liveness_epoch: {
    name: "liveness",
    schema: list(object({ index: uint64, is_live: boolean })),
  },
  post_v1_validator_prepare_beacon_proposer: accepted,
  post_v1_validator_register_validator: accepted,
  post_v1_validator_sync_committee_subscriptions: accepted,
  post_v1_validator_beacon_committee_selections: {
    name: "selections",
    schema: list(object({ validator_index: uint64, slot: uint64, selection_proof: shape("Signature") })),
  },
  post_v1_validator_sync_committee_selections: {
    name: "selections",
    schema: list(
      object({
        validator_index: uint64,
        slot: uint64,
        subcommittee_index: uint64,
        selection_proof: shape("Signature"),
      }),
    ),
  },

  // Gloas is not supported, so that these answer nothing.
  post_v1_validator_duties_ptc_epoch: anything("duties"),
  get_v4_validator_blocks_slot: anything("block"),
  get_v1_validator_payload_attestation_data: anything("payload_attestation_data"),
  post_v1_validator_proposer_preferences: anything("accepted"),
  get_v1_validator_execution_payload_bids_slot_builderIndex: anything("bid"),
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot: anything("envelope"),
};
