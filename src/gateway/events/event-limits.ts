import type { Timers } from "../../async/timers.ts";
import { type ChainSpec, slotAt } from "../network/chain-spec.ts";
import { type HealthTracker, isUsable } from "../upstream/upstream-health.ts";
import type { EventLimits } from "./event-shapes.ts";

/** How far the head of a dev chain that runs ahead of the clock may advance between two polls. */
const MAX_ADVANCE_SLOTS = 64;

/** For topics with a stream of their own, whose events may precede those of the head that they follow. */
export const UNLIMITED: EventLimits = { slot: Number.POSITIVE_INFINITY, epoch: Number.POSITIVE_INFINITY };

interface EventLimitsDeps {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all">;
  readonly timers: Pick<Timers, "unixNow">;
}

/**
 * Returns the latest slot and epoch that an event may be about: those of the clock. A dev chain may run ahead of the
 * clock, if two upstreams report that, or the only one, or if the upstream of the event has confirmed a head there.
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
