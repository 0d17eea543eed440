import { ssz } from "@lodestar/types";
import { CONSENSUS_VERSION, requireSlashingVersion, requireVoteVersion } from "./consensus-version.ts";
import { defineEntry, get, optional, post, required } from "./entry.ts";
import { slot, uint64 } from "./params/integers.ts";
import { attestation, attesterSlashing } from "./params/operations.ts";
import { payloadList } from "./params/payload-list.ts";
import { plainSszPayload } from "./params/ssz-payload.ts";

const attestations = payloadList("attestations", attestation);
const signedChanges = payloadList(
  "signed changes of credentials",
  plainSszPayload("a signed change from BLS to execution credentials", ssz.capella.SignedBLSToExecutionChange),
);

/** Pools in the standard's later versions, which name the fork, and those of later forks. */
export const extendedPoolEntries = [
  defineEntry({
    number: null,
    name: "get_v2_beacon_pool_attestations",
    summary: "Attestations that the node holds, all in the form of one fork.",
    params: {
      slot: optional(slot, "Only those of this slot, in the form of its fork; by default in that of the current slot."),
      committee_index: optional(uint64, "Only those of committees with this index."),
    },
    rest: get("/eth/v2/beacon/pool/attestations"),
    invoke: ({ operations }, { slot, committee_index }) =>
      operations.beacon.getPoolAttestationsV2({ slot, committeeIndex: committee_index }),
  }),
  defineEntry({
    number: null,
    name: "post_v2_beacon_pool_attestations",
    summary: "Takes attestations of single validators; each is judged by itself.",
    params: {
      attestations: required(
        attestations,
        "Each one an attestation with one aggregation bit or, since Electra, a single attestation.",
      ),
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v2/beacon/pool/attestations"),
    submission: true,
    invoke: async ({ operations, chainConfig }, { attestations, consensus_version }) => {
      for (const { data } of attestations) requireVoteVersion(consensus_version, chainConfig.getForkName(data.slot));
      return operations.beacon.submitPoolAttestationsV2({ signedAttestations: attestations });
    },
  }),
  defineEntry({
    number: null,
    name: "get_v2_beacon_pool_attester_slashings",
    summary: "Attester slashings that wait to be included in a finalized block.",
    rest: get("/eth/v2/beacon/pool/attester_slashings"),
    invoke: ({ operations }) => operations.beacon.getPoolAttesterSlashingsV2(),
  }),
  defineEntry({
    number: null,
    name: "post_v2_beacon_pool_attester_slashings",
    summary: "Takes an attester slashing.",
    params: {
      attester_slashing: required(attesterSlashing, "Two attestations that contradict each other."),
      consensus_version: CONSENSUS_VERSION,
    },
    rest: post("/eth/v2/beacon/pool/attester_slashings"),
    submission: true,
    invoke: async ({ operations, chainConfig }, { attester_slashing, consensus_version }) => {
      const { attestation1, attestation2 } = attester_slashing;
      const slots = [attestation1, attestation2].map(({ data }) => Number(data.slot));
      requireSlashingVersion(consensus_version, chainConfig.getForkName(Math.max(...slots)));
      return operations.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: attester_slashing });
    },
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_pool_bls_to_execution_changes",
    summary: "Changes of withdrawal credentials that wait to be included in a finalized block; from capella on.",
    rest: get("/eth/v1/beacon/pool/bls_to_execution_changes"),
    invoke: ({ operations }) => operations.beacon.getPoolBLSToExecutionChanges(),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_pool_bls_to_execution_changes",
    summary: "Takes changes of withdrawal credentials, each judged by itself; from capella on.",
    params: {
      signed_changes: required(signedChanges, "The changes, each signed with the validator's withdrawal key."),
    },
    rest: post("/eth/v1/beacon/pool/bls_to_execution_changes"),
    submission: true,
    invoke: ({ operations }, { signed_changes }) =>
      operations.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges: signed_changes }),
  }),
];
