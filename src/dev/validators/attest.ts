import { BitArray } from "@chainsafe/ssz";
import type { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { CommitteeIndex, phase0, SingleAttestation, Slot } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { SlashingProtection } from "./slashing-protection.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface AttestModules {
  api: ValidatorApi;
  config: BeaconConfig;
  signer: ValidatorSigner;
  history: SlashingProtection;
}

/** Attestation data for one committee, and our attesters in it. */
export interface CommitteeAttestation {
  committeeIndex: CommitteeIndex;
  data: phase0.AttestationData;
  duties: routes.validator.AttesterDuty[];
}

/** Requests the attestation data for a slot and groups the duties by committee. */
export async function prepareAttestations(
  { api, config }: Pick<AttestModules, "api" | "config">,
  slot: Slot,
  duties: readonly routes.validator.AttesterDuty[],
): Promise<CommitteeAttestation[]> {
  // electra/validator.md, Construct attestation: all committees sign the same index.
  const isShared = config.getForkSeq(slot) >= ForkSeq.electra;
  const { data } = await api.validator.produceAttestationData({ slot, committeeIndex: 0 });
  return Array.from(
    Map.groupBy(duties, (duty) => duty.committeeIndex),
    ([committeeIndex, members]) => ({
      committeeIndex,
      data: { ...data, index: isShared ? data.index : committeeIndex },
      duties: members,
    }),
  );
}

/** Signs the attestations and submits them in a single call. Skips attestations rejected by slashing protection. */
export async function submitAttestations(
  { api, config, signer, history }: AttestModules,
  slot: Slot,
  attestations: readonly CommitteeAttestation[],
): Promise<void> {
  const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
  const slice = new TimeSlice();
  const signedAttestations: SingleAttestation[] = [];
  for (const { committeeIndex, data, duties } of attestations) {
    const signingRoot = signer.attestationRoot(data);
    for (const { validatorIndex, committeeLength, validatorCommitteeIndex } of duties) {
      if (!history.recordAttestation(validatorIndex, data)) continue;
      const signature = signer.sign(validatorIndex, signingRoot);
      signedAttestations.push(
        isElectra
          ? { committeeIndex, attesterIndex: validatorIndex, data, signature }
          : { aggregationBits: BitArray.fromSingleBit(committeeLength, validatorCommitteeIndex), data, signature },
      );
      await slice.yieldIfDue();
    }
  }
  if (signedAttestations.length === 0) return;
  await history.flush();
  await api.beacon.submitPoolAttestationsV2({ signedAttestations });
}
