import type { ClockOffset } from "../../dev/dev-chain.ts";

/** Describes how far chain time is off the wall clock, how the offset affects tools, and how to avoid it. */
export function clockOffsetNotice({ offsetSeconds, slot, wallSlot, speed }: ClockOffset): string {
  const isBehind = offsetSeconds < 0;
  const seconds = Math.round(Math.abs(offsetSeconds));
  const fact = `Chain time is ${seconds} s ${isBehind ? "behind" : "ahead of"} the wall clock`;
  const effect = `tools that compute the slot from the wall clock get ${wallSlot} instead of ${slot}`;
  return `${fact}: ${effect}. ${remedy(isBehind, speed)}`;
}

function remedy(isBehind: boolean, speed: number): string {
  if (!isBehind) return "Time cannot go back; --reset starts a new chain.";
  const flags = speed === 1 ? "--catch-up" : "--catch-up and --speed 1";
  return `A start with ${flags} leaves the slots in between empty; --reset starts a new chain.`;
}
