import type { routes } from "@lodestar/api";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_SELECTION_PROOF,
  TARGET_AGGREGATORS_PER_COMMITTEE,
} from "@lodestar/params";
import { type electra, type phase0, type Slot, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { isSelected } from "../json-rpc-validator/chain-facts.ts";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";
import type { Connection } from "./client-connection.ts";
import { sign } from "./client-signing.ts";

type AttesterDuty = routes.validator.AttesterDuty;

/** Attests with every key that has a duty in the slot, and then aggregates the attestations of each committee. */
export async function attest(
  connection: Connection,
  keys: readonly ValidatorKey[],
  slot: Slot,
  duties: readonly AttesterDuty[],
): Promise<void> {
  const { validator, beacon } = connection.clientAt(slot);
  if (duties.length === 0) return;
  // Since electra the data is the same for all committees of a slot.
  const data = (await validator.produceAttestationData({ slot, committeeIndex: 0 })).value();
  const signedAttestations = duties.map((duty) => signAttestation(connection, keys, slot, duty, data));
  (await beacon.submitPoolAttestationsV2({ signedAttestations })).assertOk();
  const signedAggregateAndProofs: electra.SignedAggregateAndProof[] = [];
  for (const members of Map.groupBy(duties, ({ committeeIndex }) => committeeIndex).values()) {
    const aggregate = await aggregateCommittee(connection, keys, slot, members, data);
    if (aggregate) signedAggregateAndProofs.push(aggregate);
  }
  if (signedAggregateAndProofs.length === 0) return;
  (await validator.publishAggregateAndProofsV2({ signedAggregateAndProofs })).assertOk();
}

function signAttestation(
  { config }: Connection,
  keys: readonly ValidatorKey[],
  slot: Slot,
  { validatorIndex, committeeIndex }: AttesterDuty,
  data: phase0.AttestationData,
): electra.SingleAttestation {
  const key = keys[validatorIndex]!;
  const signature = sign(config, key, DOMAIN_BEACON_ATTESTER, slot, ssz.phase0.AttestationData, data);
  return { committeeIndex, attesterIndex: validatorIndex, data, signature };
}

async function aggregateCommittee(
  { config, clientAt }: Connection,
  keys: readonly ValidatorKey[],
  slot: Slot,
  members: readonly AttesterDuty[],
  data: phase0.AttestationData,
): Promise<electra.SignedAggregateAndProof | undefined> {
  for (const { validatorIndex, committeeIndex, committeeLength } of members) {
    const key = keys[validatorIndex]!;
    const selectionProof = sign(config, key, DOMAIN_SELECTION_PROOF, slot, ssz.Slot, slot);
    if (!isSelected(toHex(selectionProof), committeeLength / TARGET_AGGREGATORS_PER_COMMITTEE)) continue;
    const attestationDataRoot = ssz.phase0.AttestationData.hashTreeRoot(data);
    const { validator } = clientAt(slot);
    const response = await validator.getAggregatedAttestationV2({ attestationDataRoot, slot, committeeIndex });
    const aggregate = response.value() as electra.Attestation;
    const count = aggregate.aggregationBits.getTrueBitIndexes().length;
    if (count !== members.length) {
      throw new Error(
        `The aggregate of slot ${slot} holds ${count} of the ${members.length} attestations that were sent.`,
      );
    }
    const message = { aggregatorIndex: validatorIndex, aggregate, selectionProof };
    const type = ssz.electra.AggregateAndProof;
    return { message, signature: sign(config, key, DOMAIN_AGGREGATE_AND_PROOF, slot, type, message) };
  }
  return undefined;
}
