import type { FailureKind } from "../../failure.ts";
import type { Entry } from "../entry.ts";

/** Parameters that name something which may not be there. */
const REFERENCES: readonly string[] = ["state_id", "block_id", "peer_id"];

/** Methods that look for something which no parameter names. */
const SEEKERS: readonly string[] = [
  "get_v1_beacon_genesis",
  "get_v1_validator_duties_attester",
  "post_v1_validator_duties_attester",
  "get_v1_validator_duties_proposer",
  "get_v2_validator_duties_proposer_epoch",
  "get_v1_validator_attestation_data",
  "get_v1_validator_attestation",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
  "get_v2_validator_aggregate_attestation",
  "post_v1_validator_duties_sync_epoch",
  "get_v1_validator_sync_committee_contribution",
  "getEth1ProposalData",
  "get_v1_beacon_light_client_bootstrap_blockRoot",
  "get_v1_beacon_light_client_finality_update",
  "get_v1_beacon_light_client_optimistic_update",
  "post_v1_beacon_rewards_attestations_epoch",
];

/** Methods about a chain that work although their node may have none yet. */
const ALWAYS_AVAILABLE = /^(get_v1_beacon_genesis|get_v\d_beacon_pool_\w+)$/;

const CHAIN_METHODS =
  /^(get|post)_v\d_(beacon|validator|debug)_|^(getBeaconHead|getChainHead|getBeaconBlock|getBeaconState|getEth1ProposalData)$/;

const UNSUPPORTED: readonly string[] = [
  "get_v1_validator_block",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
  "debug_getChronosFutures",
  "subscribe",
  "unsubscribe",
  "post_v1_validator_duties_sync_epoch",
  "post_v1_beacon_pool_sync_committees",
  "get_v1_validator_sync_committee_contribution",
  "post_v1_validator_contribution_and_proofs",
  "get_v3_validator_blocks_slot",
  "get_v1_beacon_light_client_bootstrap_blockRoot",
  "get_v1_beacon_light_client_updates",
  "get_v1_beacon_light_client_finality_update",
  "get_v1_beacon_light_client_optimistic_update",
  "post_v1_validator_prepare_beacon_proposer",
  "post_v1_validator_register_validator",
  "post_v1_validator_sync_committee_subscriptions",
  "post_v1_validator_beacon_committee_selections",
  "post_v1_validator_sync_committee_selections",
  "post_v1_validator_duties_ptc_epoch",
  "get_v4_validator_blocks_slot",
  "get_v1_validator_payload_attestation_data",
  "post_v1_validator_proposer_preferences",
  "get_v1_validator_execution_payload_bids_slot_builderIndex",
  "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot",
];

/** Operations of forks that a chain may not come to, or that no chain of this node comes to. */
const OF_LATER_FORKS =
  /^(get|post)_v\d_beacon_(states_stateId_(sync_committees|pending_\w+|proposer_lookahead|builders)|blinded_blocks|blobs_blockId|rewards_\w+|execution_payload_\w+|pool_(bls_to_execution_changes|payload_attestations))$|^get_v1_debug_beacon_data_column_sidecars_blockId$/;

/** Submissions that are only checked for their form. */
const NEVER_REJECTED: readonly string[] = [
  "post_v1_validator_duties_attester",
  "post_v1_validator_duties_sync_epoch",
  "post_v1_validator_beacon_committee_subscriptions",
  "post_v1_validator_liveness_epoch",
  "post_v1_validator_prepare_beacon_proposer",
  "post_v1_validator_register_validator",
  "post_v1_validator_sync_committee_subscriptions",
  "post_v1_validator_beacon_committee_selections",
  "post_v1_validator_sync_committee_selections",
  "post_v1_validator_duties_ptc_epoch",
];

/** Questions whose parameters may be too long for the URL of a GET. */
const READS_BY_POST = /^post_v1_beacon_(states|rewards)_/;

/** The kinds of failure that calls of a method can meet, besides those that every call can. */
export function failuresOf({ name, params }: Pick<Entry, "name" | "params">): FailureKind[] {
  const failures: FailureKind[] = ["invalid-params"];
  if (SEEKERS.includes(name) || params.some((param) => REFERENCES.includes(param.name))) failures.push("not-found");
  if (CHAIN_METHODS.test(name) && !ALWAYS_AVAILABLE.test(name)) failures.push("unavailable");
  if (name.startsWith("post_") && !NEVER_REJECTED.includes(name) && !READS_BY_POST.test(name))
    failures.push("rejected");
  if (UNSUPPORTED.includes(name) || OF_LATER_FORKS.test(name)) failures.push("unsupported");
  return failures;
}
