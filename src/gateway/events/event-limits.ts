import type { Timers } from "../../async/timers.ts";
import { type ChainSpec, slotAt } from "../network/chain-spec.ts";
import { type HealthTracker, isUsable } from "../upstream/upstream-health.ts";
import type { EventLimits } from "./event-shapes.ts";

/** How far the head of a dev chain that runs ahead of the clock may advance between two polls. */
const MAX_ADVANCE_SLOTS = 64;

/** For topics with a separate stream, whose events may arrive before the corresponding head event. */
export const UNLIMITED: EventLimits = { slot: Number.POSITIVE_INFINITY, epoch: Number.POSITIVE_INFINITY };

interface EventLimitsDeps {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all">;
  readonly timers: Pick<Timers, "unixNow">;
}

/**
 * Returns the latest credible slot and epoch of an event: those of the clock, or later ones on a dev chain that runs
 * ahead of the clock. Later ones require that two upstreams, or the only one, report such a head, or that the event's
 * upstream has confirmed it.
 */
export function eventLimits(
  { chainSpec, health, timers }: EventLimitsDeps,
  confirmedSlot = Number.NEGATIVE_INFINITY,
): EventLimits {
  const clockSlot = slotAt(chainSpec, timers.unixNow());
  const heads = health.all.flatMap((upstream) => (isUsable(upstream) && upstream.head ? [upstream.head.slot] : []));
  heads.sort((a, b) => b - a);
  const head = heads[1] ?? heads[0] ?? 0;
  const reported = head > clockSlot ? head + MAX_ADVANCE_SLOTS : clockSlot + 1;
  const slot = Math.max(reported, confirmedSlot + MAX_ADVANCE_SLOTS);
  return { slot, epoch: Math.floor(slot / chainSpec.slotsPerEpoch) };
}
