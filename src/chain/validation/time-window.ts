import { ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { ValidationContext } from "./context.ts";
import { ignore } from "./outcome.ts";

type TimeContext = Pick<ValidationContext, "config" | "clock">;

/** p2p-interface.md, `is_future_slot`: throws if the slot has not started, allowing for clock disparity. */
export function refuseFutureSlot({ config, clock }: TimeContext, slot: Slot, what: string): void {
  const latestSlot = clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY);
  if (slot > latestSlot) {
    throw ignore("future-slot", `${what}'s slot ${slot} is in the future: the current slot is ${clock.currentSlot}.`);
  }
}

/** Returns true if the slot started longer ago than the allowed clock disparity. */
export function hasPassed({ config, clock }: TimeContext, slot: Slot): boolean {
  return clock.slotStartSeconds(slot) + config.MAXIMUM_GOSSIP_CLOCK_DISPARITY / 1000 < clock.nowSeconds();
}

/** altair/p2p-interface.md, `is_current_slot`: throws for any other slot. */
export function refuseUnlessCurrentSlot(context: TimeContext, slot: Slot, what: string): void {
  refuseFutureSlot(context, slot, what);
  refusePastSlot(context, slot, what);
}

/** Throws if the slot is over, allowing for clock disparity. */
export function refusePastSlot(context: TimeContext, slot: Slot, what: string): void {
  if (!hasPassed(context, slot + 1)) return;
  throw ignore("past-slot", `${what}'s slot ${slot} is over: the current slot is ${context.clock.currentSlot}.`);
}

/**
 * Throws if the slot is outside the propagation window for attestations, which lasts a number of slots or, since Deneb,
 * until the end of the next epoch (EIP-7045). Uses the current fork, because the attestation would be included in a
 * block of that fork.
 */
export function refuseOutsideAttestationWindow(context: TimeContext, slot: Slot, what: string): void {
  refuseFutureSlot(context, slot, what);
  const { config, clock } = context;
  const firstSlotOutside =
    config.getForkSeq(clock.currentSlot) >= ForkSeq.deneb
      ? computeStartSlotAtEpoch(computeEpochAtSlot(slot) + 2)
      : slot + config.ATTESTATION_PROPAGATION_SLOT_RANGE + 1;
  if (hasPassed(context, firstSlotOutside)) {
    throw ignore("past-slot", `${what}'s slot ${slot} is too old: the current slot is ${clock.currentSlot}.`);
  }
}
