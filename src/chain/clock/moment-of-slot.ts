import type { ChainConfig } from "@lodestar/config";
import { BASIS_POINTS } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { type Clock, ClockStoppedError } from "./clock.ts";

/** When the given share of a slot is over, in chain time. */
export function momentOfSlot(clock: Clock, slot: Slot, share: number): number {
  return clock.slotStartSeconds(slot) + clock.secondsPerSlot * share;
}

/** The share of a slot after which its attestations are due. */
export function attestationDueShare({ ATTESTATION_DUE_BPS }: Pick<ChainConfig, "ATTESTATION_DUE_BPS">): number {
  return ATTESTATION_DUE_BPS / BASIS_POINTS;
}

/** Whether the moment has come: it does not when the clock stops or the signal is aborted before. */
export async function untilMomentOfSlot(
  clock: Clock,
  slot: Slot,
  share: number,
  stopping: AbortSignal,
): Promise<boolean> {
  try {
    await clock.untilTime(momentOfSlot(clock, slot, share), stopping);
    return true;
  } catch (error) {
    if (stopping.aborted || error instanceof ClockStoppedError) return false;
    throw error;
  }
}
