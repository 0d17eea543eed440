import { ForkName } from "@lodestar/params";
import { get, type MethodDefinition, post, type RestPath } from "../../src/api/definition.ts";
import { type DocumentVersion, OpenApi, type TwinValidator, type ValidatorOptions } from "./openapi.ts";

/** Forks on which results are checked. Objects of the first one match the older document. */
type DocumentedFork = ForkName.phase0 | ForkName.fulu | ForkName.gloas;

const DOCUMENTS = {
  "v2.5.0": new OpenApi("v2.5.0"),
  "v4.0.0": new OpenApi("v4.0.0"),
  "v5.0.0-alpha": new OpenApi("v5.0.0-alpha"),
};
const DOCUMENT_OF = {
  [ForkName.phase0]: "v2.5.0",
  [ForkName.fulu]: "v4.0.0",
  [ForkName.gloas]: "v5.0.0-alpha",
} as const;

/** The documented operation whose response schema validates a result. */
interface TwinReference extends ValidatorOptions {
  document: DocumentVersion;
  operation: RestPath;
}

type Twins = Partial<Record<DocumentedFork, TwinReference>>;

const inV4 = (operation: RestPath, younger: readonly string[] = []): Twins => ({
  [ForkName.fulu]: { document: "v4.0.0", operation, younger },
});
const inBoth = (operation: RestPath): Twins => ({
  [ForkName.phase0]: { document: "v2.5.0", operation },
  [ForkName.fulu]: { document: "v4.0.0", operation },
});
/** Operations newer than the phase0 document. */
const younger = (operation: RestPath, variant = 0): Twins => ({
  [ForkName.phase0]: { document: "v4.0.0", operation, variant },
});
/** The second of the two attestation formats is the one before electra. */
const ofAttestations = (path: string): Twins => younger(get(path), 1);

/** Members that the first versions of block production omit. */
const BESIDE_VERSION_3 = ["execution_payload_blinded", "execution_payload_value", "consensus_block_value"];

const ofGloas = (operation: RestPath, variant = 0): Twins => ({
  [ForkName.gloas]: { document: "v5.0.0-alpha", operation, variant },
});

/** Operations whose documents lack the format of gloas, or a name of this client. */
const UNDOCUMENTED_IN_GLOAS = [
  "get_v2_node_version",
  "get_v1_debug_beacon_states_stateId",
  "get_v1_beacon_light_client_bootstrap_blockRoot",
  "get_v1_beacon_light_client_updates",
  "get_v1_beacon_light_client_finality_update",
  "get_v1_beacon_light_client_optimistic_update",
];

/** Operations that a document has under another path than the method, or that only one document has. */
const ELSEWHERE: Readonly<Record<string, Twins>> = {
  get_v2_validator_duties_proposer_epoch: inBoth(get("/eth/v1/validator/duties/proposer/{epoch}")),
  get_v3_validator_blocks_slot: {
    [ForkName.phase0]: { document: "v2.5.0", operation: get("/eth/v2/validator/blocks/{slot}") },
  },
  get_v1_validator_duties_attester: inBoth(post("/eth/v1/validator/duties/attester/{epoch}")),
  get_v1_validator_block: inV4(get("/eth/v3/validator/blocks/{slot}"), BESIDE_VERSION_3),
  post_v1_beacon_blocks: inV4(post("/eth/v2/beacon/blocks")),
  get_v1_validator_attestation: inBoth(get("/eth/v1/validator/attestation_data")),
  post_v1_beacon_pool_attestations: inV4(post("/eth/v2/beacon/pool/attestations")),
  get_v1_beacon_pool_attestations: inV4(get("/eth/v2/beacon/pool/attestations"), ["version"]),
  get_v1_validator_aggregate_attestation: inV4(get("/eth/v2/validator/aggregate_attestation"), ["version"]),
  get_v1_validator_aggregate_and_proof: {
    ...inV4(get("/eth/v2/validator/aggregate_attestation"), ["version"]),
    [ForkName.phase0]: { document: "v2.5.0", operation: get("/eth/v1/validator/aggregate_attestation") },
  },
  get_v2_validator_aggregate_attestation: ofAttestations("/eth/v2/validator/aggregate_attestation"),
  post_v1_validator_aggregate_and_proofs: inV4(post("/eth/v2/validator/aggregate_and_proofs")),
  post_v1_beacon_pool_attester_slashings: inV4(post("/eth/v2/beacon/pool/attester_slashings")),
  get_v1_beacon_pool_attester_slashings: inV4(get("/eth/v2/beacon/pool/attester_slashings"), ["version"]),
  get_v1_beacon_blocks_blockId_attestations: inV4(get("/eth/v2/beacon/blocks/{block_id}/attestations"), ["version"]),
  getBeaconBlock: inBoth(get("/eth/v2/beacon/blocks/{block_id}")),
  getBeaconState: inBoth(get("/eth/v2/debug/beacon/states/{state_id}")),
  post_v1_beacon_states_stateId_validators: younger(post("/eth/v1/beacon/states/{state_id}/validators")),
  post_v1_beacon_states_stateId_validator_balances: younger(
    post("/eth/v1/beacon/states/{state_id}/validator_balances"),
  ),
  post_v1_beacon_states_stateId_validator_identities: younger(
    post("/eth/v1/beacon/states/{state_id}/validator_identities"),
  ),
  get_v2_beacon_blocks_blockId_attestations: ofAttestations("/eth/v2/beacon/blocks/{block_id}/attestations"),
  get_v2_beacon_pool_attestations: ofAttestations("/eth/v2/beacon/pool/attestations"),
  get_v2_beacon_pool_attester_slashings: ofAttestations("/eth/v2/beacon/pool/attester_slashings"),
  // The document has no version after electra.
  get_v1_beacon_blob_sidecars_blockId: inV4(get("/eth/v1/beacon/blob_sidecars/{block_id}"), ["version"]),
  get_v1_builder_states_stateId_expected_withdrawals: {
    [ForkName.fulu]: {
      document: "v2.5.0",
      operation: get("/eth/v1/builder/states/{state_id}/expected_withdrawals"),
    },
  },
  get_v1_validator_blinded_blocks_slot: {
    [ForkName.fulu]: {
      document: "v4.0.0",
      operation: get("/eth/v3/validator/blocks/{slot}"),
      variant: 2,
      younger: BESIDE_VERSION_3,
    },
  },
  get_v1_beacon_blinded_blocks_blockId: ofGloas(get("/eth/v2/beacon/blocks/{block_id}")),
  // With the payload.
  get_v4_validator_blocks_slot: ofGloas(get("/eth/v4/validator/blocks/{slot}"), 1),
  get_v1_debug_fork_choice: younger(get("/eth/v1/debug/fork_choice")),
};

/** Validator of a result and its metadata; undefined if no document describes the method, or only its status. */
export function twinValidator({ name, rest }: MethodDefinition, fork: DocumentedFork): TwinValidator | undefined {
  const elsewhere = ELSEWHERE[name]?.[fork];
  if (elsewhere) return DOCUMENTS[elsewhere.document].validator(elsewhere.operation, elsewhere);
  if (fork === ForkName.gloas && UNDOCUMENTED_IN_GLOAS.includes(name)) return undefined;
  const document = DOCUMENTS[DOCUMENT_OF[fork]];
  const operation = rest.find((path) => document.has(path));
  return operation && document.validator(operation);
}
