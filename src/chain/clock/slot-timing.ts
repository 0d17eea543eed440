import type { ChainForkConfig } from "@lodestar/config";
import { BASIS_POINTS, ForkSeq } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { type Clock, ClockStoppedError } from "./clock.ts";

/** Returns the chain time when the given share of a slot has passed. */
export function timeInSlot(clock: Clock, slot: Slot, share: number): number {
  return clock.slotStartSeconds(slot) + clock.secondsPerSlot * share;
}

/** Share of the slot after which attestations are due: get_attestation_due_ms. */
export function attestationDueShare(config: ChainForkConfig, slot: Slot): number {
  const isGloas = config.getForkSeq(slot) >= ForkSeq.gloas;
  return (isGloas ? config.ATTESTATION_DUE_BPS_GLOAS : config.ATTESTATION_DUE_BPS) / BASIS_POINTS;
}

/** Share of a slot after which payload attestations are due: get_payload_attestation_due_ms (gloas/fork-choice.md). */
export function payloadAttestationDueShare(config: ChainForkConfig): number {
  return config.PAYLOAD_ATTESTATION_DUE_BPS / BASIS_POINTS;
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
