import { ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { ValidationContext } from "./context.ts";
import { ignore } from "./outcome.ts";

type TimeContext = Pick<ValidationContext, "config" | "clock">;

/** p2p-interface.md `is_future_slot`: the slot has not begun, even if our clock is slow by the allowed disparity. */
export function refuseFutureSlot({ config, clock }: TimeContext, slot: Slot, what: string): void {
  const latestSlot = clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY);
  if (slot > latestSlot) {
    throw ignore(
      "future-slot",
      `${what} is of slot ${slot}, which has not begun: the current slot is ${clock.currentSlot}.`,
    );
  }
}

/** The start of the slot has passed by more than the allowed disparity. */
function hasPassed({ config, clock }: TimeContext, slot: Slot): boolean {
  return clock.slotStartSeconds(slot) + config.MAXIMUM_GOSSIP_CLOCK_DISPARITY / 1000 < clock.nowSeconds();
}

/** altair/p2p-interface.md `is_current_slot`. */
export function refuseUnlessCurrentSlot(context: TimeContext, slot: Slot, what: string): void {
  refuseFutureSlot(context, slot, what);
  if (hasPassed(context, slot + 1)) {
    throw ignore(
      "past-slot",
      `${what} is of slot ${slot}, but only those of the current slot ${context.clock.currentSlot} are accepted.`,
    );
  }
}

/**
 * How long attestations travel: a number of slots at first, since Deneb to the end of the following epoch (EIP-7045). The rule
 * is that of the fork in force now, because the block that may carry the attestation is of that fork.
 */
export function refuseOutsideAttestationWindow(context: TimeContext, slot: Slot, what: string): void {
  refuseFutureSlot(context, slot, what);
  const { config, clock } = context;
  const firstSlotOutside =
    config.getForkSeq(clock.currentSlot) >= ForkSeq.deneb
      ? computeStartSlotAtEpoch(computeEpochAtSlot(slot) + 2)
      : slot + config.ATTESTATION_PROPAGATION_SLOT_RANGE + 1;
  if (hasPassed(context, firstSlotOutside)) {
    throw ignore(
      "past-slot",
      `${what} is of slot ${slot}, which is too old to be accepted at slot ${clock.currentSlot}.`,
    );
  }
}
