import { ATTESTATION_SUBNET_COUNT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CommitteeIndex, Slot } from "@lodestar/types";

/** compute_subnet_for_attestation of phase0/validator.md: the committees of an epoch go round the subnets in turn. */
export function attestationSubnet(committeesPerSlot: number, slot: Slot, committeeIndex: CommitteeIndex): number {
  const committeesSinceEpochStart = committeesPerSlot * (slot % SLOTS_PER_EPOCH);
  return (committeesSinceEpochStart + committeeIndex) % ATTESTATION_SUBNET_COUNT;
}
