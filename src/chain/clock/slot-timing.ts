import type { ChainConfig } from "@lodestar/config";
import { BASIS_POINTS } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { type Clock, ClockStoppedError } from "./clock.ts";

/** Returns the chain time when the given share of a slot has passed. */
export function timeInSlot(clock: Clock, slot: Slot, share: number): number {
  return clock.slotStartSeconds(slot) + clock.secondsPerSlot * share;
}

/** Share of a slot after which attestations are due. */
export function attestationDueShare({ ATTESTATION_DUE_BPS }: Pick<ChainConfig, "ATTESTATION_DUE_BPS">): number {
  return ATTESTATION_DUE_BPS / BASIS_POINTS;
}

/** Waits for a time within a slot. Resolves to false if the clock stops or the signal aborts first. */
export async function untilTimeInSlot(
  clock: Clock,
  slot: Slot,
  share: number,
  stopping: AbortSignal,
): Promise<boolean> {
  try {
    await clock.untilTime(timeInSlot(clock, slot, share), stopping);
    return true;
  } catch (error) {
    if (stopping.aborted || error instanceof ClockStoppedError) return false;
    throw error;
  }
}
