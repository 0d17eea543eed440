import { setTimeout as delay } from "node:timers/promises";
import type { BeaconRest } from "../../test/interop/beacon-rest.ts";
import { usageOf } from "../support/process-usage.ts";

const POLL_MS = 200;

export interface SyncSpeed {
  slotsPerSecond: number;
  /** CPU time of all threads of the syncing process. Undefined if the operating system does not report it. */
  cpuMsPerSlot: number | undefined;
}

/**
 * Watches a node until its head reaches the slot. Measures from the first head after genesis, which excludes startup
 * and peer discovery.
 */
export async function syncSpeed(rest: BeaconRest, pid: number, target: number): Promise<SyncSpeed> {
  const begin = await observe(rest, pid, 1);
  const end = await observe(rest, pid, target);
  const slots = end.slot - begin.slot;
  const cpuMsPerSlot =
    begin.cpuSeconds === undefined || end.cpuSeconds === undefined
      ? undefined
      : ((end.cpuSeconds - begin.cpuSeconds) * 1000) / slots;
  return { slotsPerSecond: slots / (end.seconds - begin.seconds), cpuMsPerSlot };
}

async function observe(rest: BeaconRest, pid: number, atLeast: number) {
  for (;;) {
    const { slot } = await rest.head();
    if (slot >= atLeast) return { slot, seconds: performance.now() / 1000, cpuSeconds: cpuSecondsOf(pid) };
    await delay(POLL_MS);
  }
}

function cpuSecondsOf(pid: number): number | undefined {
  try {
    return usageOf(pid).cpuSeconds;
  } catch {
    return undefined;
  }
}
