import { defineEntry, each, get, optional, post, required } from "./entry.ts";
import { slot, uint64 } from "./params/integers.ts";
import { attestation, attesterSlashing, proposerSlashing, signedVoluntaryExit } from "./params/operations.ts";

export const poolEntries = [
  defineEntry({
    number: null,
    name: "get_v1_beacon_pool_attestations",
    summary: "Attestations that the node holds, each in the form of its fork.",
    params: {
      slot: optional(slot, "Only those of this slot."),
      committee_index: optional(uint64, "Only those of committees with this index."),
    },
    rest: get("/eth/v1/beacon/pool/attestations"),
    invoke: ({ operations }, { slot, committee_index }) =>
      operations.beacon.getPoolAttestations({ slot, committeeIndex: committee_index }),
  }),
  defineEntry({
    number: 15,
    name: "post_v1_beacon_pool_attestations",
    summary: "Takes attestations of single validators; each is judged by itself.",
    params: {
      attestations: each(
        attestation,
        "Each one an attestation with one aggregation bit or, since Electra, a single attestation.",
      ),
    },
    rest: post("/eth/v1/beacon/pool/attestations"),
    submission: true,
    invoke: ({ operations }, { attestations }) =>
      operations.beacon.submitPoolAttestationsV2({ signedAttestations: attestations }),
  }),
  defineEntry({
    number: 16,
    name: "get_v1_beacon_pool_attester_slashings",
    summary: "Attester slashings that wait to be included in a finalized block.",
    rest: get("/eth/v1/beacon/pool/attester_slashings"),
    invoke: ({ operations }) => operations.beacon.getPoolAttesterSlashings(),
  }),
  defineEntry({
    number: 17,
    name: "post_v1_beacon_pool_attester_slashings",
    summary: "Takes an attester slashing.",
    params: { attester_slashing: required(attesterSlashing, "Two attestations that contradict each other.") },
    rest: post("/eth/v1/beacon/pool/attester_slashings"),
    submission: true,
    invoke: ({ operations }, { attester_slashing }) =>
      operations.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing: attester_slashing }),
  }),
  defineEntry({
    number: 18,
    name: "get_v1_beacon_pool_proposer_slashings",
    summary: "Proposer slashings that wait to be included in a finalized block.",
    rest: get("/eth/v1/beacon/pool/proposer_slashings"),
    invoke: ({ operations }) => operations.beacon.getPoolProposerSlashings(),
  }),
  defineEntry({
    number: 19,
    name: "post_v1_beacon_pool_proposer_slashings",
    summary: "Takes a proposer slashing.",
    params: { proposer_slashing: required(proposerSlashing, "Two headers of one proposer for the same slot.") },
    rest: post("/eth/v1/beacon/pool/proposer_slashings"),
    submission: true,
    invoke: ({ operations }, { proposer_slashing }) =>
      operations.beacon.submitPoolProposerSlashings({ proposerSlashing: proposer_slashing }),
  }),
  defineEntry({
    number: 20,
    name: "get_v1_beacon_pool_voluntary_exits",
    summary: "Voluntary exits that wait to be included in a finalized block.",
    rest: get("/eth/v1/beacon/pool/voluntary_exits"),
    invoke: ({ operations }) => operations.beacon.getPoolVoluntaryExits(),
  }),
  defineEntry({
    number: 21,
    name: "post_v1_beacon_pool_voluntary_exits",
    summary: "Takes a signed voluntary exit.",
    params: { signed_voluntary_exit: required(signedVoluntaryExit, "The exit of one validator, signed by it.") },
    rest: post("/eth/v1/beacon/pool/voluntary_exits"),
    submission: true,
    invoke: ({ operations }, { signed_voluntary_exit }) =>
      operations.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit: signed_voluntary_exit }),
  }),
];
