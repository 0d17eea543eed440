import type { TimeDifference } from "../../dev/dev-chain.ts";

/** What it means for tools that the time of a dev chain is not the time of day, and what can be done about it. */
export function timeDifferenceNotice({ offsetSeconds, slot, wallSlot, speed }: TimeDifference): string {
  const isBehind = offsetSeconds < 0;
  const seconds = Math.round(Math.abs(offsetSeconds));
  const fact = `Chain time is ${seconds} s ${isBehind ? "behind" : "ahead of"} the time of day`;
  const effect = `tools that compute the slot from genesis time and the time of day take it for ${wallSlot} instead of ${slot}`;
  return `${fact}: ${effect}. ${remedy(isBehind, speed)}`;
}

function remedy(isBehind: boolean, speed: number): string {
  if (!isBehind) return "Time cannot go back; --reset starts a new chain.";
  const flags = speed === 1 ? "--catch-up" : "--catch-up and --speed 1";
  return `A start with ${flags} leaves the slots in between empty; --reset starts a new chain.`;
}
