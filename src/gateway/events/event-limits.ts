import type { Timers } from "../../async/timers.ts";
import { type ChainSpec, slotAt } from "../network/chain-spec.ts";
import { type HealthTracker, isUsable } from "../upstream/upstream-health.ts";
import type { EventLimits } from "./event-shapes.ts";

/** How far the head of a dev chain that runs ahead of the clock may advance between two polls. */
const MAX_ADVANCE_SLOTS = 64;

interface EventLimitsDeps {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all">;
  readonly timers: Pick<Timers, "unixNow">;
}

/**
 * Returns the latest slot and epoch that an event may be about: those of the clock. A dev chain may run ahead of the
 * clock, if two upstreams report that, or the only one.
 */
export function eventLimits({ chainSpec, health, timers }: EventLimitsDeps): EventLimits {
  const clockSlot = slotAt(chainSpec, timers.unixNow());
  const heads = health.all.flatMap((upstream) => (isUsable(upstream) && upstream.head ? [upstream.head.slot] : []));
  heads.sort((a, b) => b - a);
  const head = heads[1] ?? heads[0] ?? 0;
  const slot = head > clockSlot ? head + MAX_ADVANCE_SLOTS : clockSlot + 1;
  return { slot, epoch: Math.floor(slot / chainSpec.slotsPerEpoch) };
}
