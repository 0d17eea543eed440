import type { Type } from "@chainsafe/ssz";
import type { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { DOMAIN_AGGREGATE_AND_PROOF, DOMAIN_SELECTION_PROOF } from "@lodestar/params";
import { isAggregatorFromCommitteeLength } from "@lodestar/state-transition";
import {
  type AggregateAndProof,
  type BLSSignature,
  type SignedAggregateAndProof,
  type Slot,
  ssz,
  type ValidatorIndex,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { TimeSlice } from "../../async/time-slice.ts";
import type { CommitteeAttestation } from "./attest.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface AggregateModules {
  api: ValidatorApi;
  config: BeaconConfig;
  signer: ValidatorSigner;
  /** Called if a committee's aggregate fails. The remaining aggregates are still published. */
  onFailure: (error: unknown) => void;
}

/**
 * Publishes one aggregate per committee with a selected aggregator (phase0/validator.md, Attestation aggregation). All
 * our aggregators in a committee would publish the same aggregate, so only the first one does.
 */
export async function publishAggregates(
  { api, config, signer, onFailure }: AggregateModules,
  slot: Slot,
  attestations: readonly CommitteeAttestation[],
): Promise<void> {
  const type = config.getForkTypes(slot).AggregateAndProof as Type<AggregateAndProof>;
  const signedAggregateAndProofs: SignedAggregateAndProof[] = [];
  for (const { committeeIndex, data, duties } of attestations) {
    const selected = await selectAggregator(signer, slot, duties);
    if (!selected) continue;
    try {
      const attestationDataRoot = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
      const response = await api.validator.getAggregatedAttestationV2({ attestationDataRoot, slot, committeeIndex });
      const message = { ...selected, aggregate: response.data } as AggregateAndProof;
      const signingRoot = signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, slot);
      const signature = signer.sign(selected.aggregatorIndex, signingRoot);
      signedAggregateAndProofs.push({ message, signature } as SignedAggregateAndProof);
    } catch (error) {
      onFailure(error);
    }
  }
  if (signedAggregateAndProofs.length === 0) return;
  await api.validator.publishAggregateAndProofsV2({ signedAggregateAndProofs });
}

/** Returns the first of our committee members selected as an aggregator (phase0/validator.md, is_aggregator). */
export async function selectAggregator(
  signer: ValidatorSigner,
  slot: Slot,
  duties: readonly routes.validator.AttesterDuty[],
): Promise<{ aggregatorIndex: ValidatorIndex; selectionProof: BLSSignature } | undefined> {
  const signingRoot = signer.signingRoot(ssz.Slot, slot, DOMAIN_SELECTION_PROOF, slot);
  const slice = new TimeSlice();
  for (const { validatorIndex, committeeLength } of duties) {
    const selectionProof = signer.sign(validatorIndex, signingRoot);
    if (isAggregatorFromCommitteeLength(committeeLength, selectionProof)) {
      return { aggregatorIndex: validatorIndex, selectionProof };
    }
    await slice.yieldIfDue();
  }
  return undefined;
}
