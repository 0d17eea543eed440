import type { Type } from "@chainsafe/ssz";
import { isForkPostElectra } from "@lodestar/params";
import { type AttesterSlashing, type SignedAggregateAndProof, type SingleAttestation, ssz } from "@lodestar/types";
import { oneOf, shape } from "../schemas.ts";
import { plainSszPayload, readSszJson, slotAt, sszPayload } from "./ssz-payload.ts";

/**
 * Unaggregated attestation: before electra an Attestation with a single bit set, and from electra on a
 * SingleAttestation.
 */
export const attestation = sszPayload<SingleAttestation>(
  "an attestation of one validator",
  (json, config) => {
    const fork = config.getForkName(slotAt(json, ["data", "slot"]));
    const type = isForkPostElectra(fork) ? ssz[fork].SingleAttestation : ssz.phase0.Attestation;
    return readSszJson(type as Type<SingleAttestation>, json);
  },
  oneOf(shape("AttestationPhase0"), shape("SingleAttestation")),
);

export const signedAggregateAndProof = sszPayload<SignedAggregateAndProof>(
  "a signed aggregate and proof",
  (json, config) => {
    const slot = slotAt(json, ["message", "aggregate", "data", "slot"]);
    return readSszJson(config.getForkTypes(slot).SignedAggregateAndProof as Type<SignedAggregateAndProof>, json);
  },
  shape("SignedAggregateAndProof"),
);

/**
 * Attester slashing in the format of the later attestation's fork. Forks differ only in the maximum number of indices.
 */
export const attesterSlashing = sszPayload<AttesterSlashing>(
  "an attester slashing",
  (json, config) => {
    const slots = ["attestation_1", "attestation_2"].map((name) => slotAt(json, [name, "data", "slot"]));
    return readSszJson(config.getForkTypes(Math.max(...slots)).AttesterSlashing as Type<AttesterSlashing>, json);
  },
  shape("AttesterSlashing"),
);

export const proposerSlashing = plainSszPayload(
  "a proposer slashing",
  ssz.phase0.ProposerSlashing,
  shape("ProposerSlashing"),
);

export const signedVoluntaryExit = plainSszPayload(
  "a signed voluntary exit",
  ssz.phase0.SignedVoluntaryExit,
  shape("SignedVoluntaryExit"),
);
