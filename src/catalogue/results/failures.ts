import type { FailureKind } from "../../errors.ts";
import type { Entry } from "../entry.ts";

/** Parameters that name something which may not be there. */
const REFERENCES: readonly string[] = ["state_id", "block_id", "peer_id"];

/** Methods that look for something which no parameter names. */
const SEEKERS: readonly string[] = [
  "get_v1_beacon_genesis",
  "get_v1_validator_duties_attester",
  "post_v1_validator_duties_attester",
  "get_v1_validator_duties_proposer",
  "get_v1_validator_attestation_data",
  "get_v1_validator_attestation",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
  "get_v2_validator_aggregate_attestation",
  "post_v1_validator_duties_sync_epoch",
  "get_v1_validator_sync_committee_contribution",
  "getEth1ProposalData",
];

/** Methods about a chain that work although their node may have none yet. */
const ALWAYS_AVAILABLE = /^(get_v1_beacon_genesis|get_v1_beacon_pool_\w+)$/;

const CHAIN_METHODS =
  /^(get|post)_v\d_(beacon|validator|debug)_|^(getBeaconHead|getChainHead|getBeaconBlock|getBeaconState|getEth1ProposalData)$/;

const UNSUPPORTED: readonly string[] = [
  "get_v1_validator_block",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
  "debug_getChronosFutures",
];

/** Submissions that are only checked for their form. */
const NEVER_REJECTED: readonly string[] = [
  "post_v1_validator_duties_attester",
  "post_v1_validator_duties_sync_epoch",
  "post_v1_validator_beacon_committee_subscriptions",
];

/** The kinds of failure that calls of a method can meet, besides those that every call can. */
export function failuresOf({ name, params }: Pick<Entry, "name" | "params">): FailureKind[] {
  const failures: FailureKind[] = ["invalid-params"];
  if (SEEKERS.includes(name) || params.some((param) => REFERENCES.includes(param.name))) failures.push("not-found");
  if (CHAIN_METHODS.test(name) && !ALWAYS_AVAILABLE.test(name)) failures.push("unavailable");
  if (name.startsWith("post_") && !NEVER_REJECTED.includes(name)) failures.push("rejected");
  if (UNSUPPORTED.includes(name)) failures.push("unsupported");
  return failures;
}
