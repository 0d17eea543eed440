import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { reject } from "./outcome.ts";

/** The committee that votes at the slot of the data, from the state of the data's target checkpoint. */
export function committeeFor(
  targetState: CachedBeaconStateAllForks,
  data: phase0.AttestationData,
  committeeIndex: number,
  subject: string,
): Uint32Array {
  const committeeCount = targetState.epochCtx.getCommitteeCountPerSlot(data.target.epoch);
  if (committeeIndex >= committeeCount) {
    throw reject(
      "committee-index-out-of-range",
      `${subject} names committee ${committeeIndex} of slot ${data.slot}, which has ${committeeCount}, counted from 0.`,
    );
  }
  return targetState.epochCtx.getBeaconCommittee(data.slot, committeeIndex);
}
