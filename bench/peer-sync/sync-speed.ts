import { setTimeout as delay } from "node:timers/promises";
import type { BeaconRest } from "../../test/interop/beacon-rest.ts";
import { usageOf } from "../support/process-usage.ts";

const POLL_MS = 200;

export interface SyncSpeed {
  slotsPerSecond: number;
  /** Of the syncing process, in all its threads; undefined where the system does not tell. */
  processorMsPerSlot: number | undefined;
}

/**
 * Watches a node until its head is at the slot. The time counts from the first head after genesis, so that neither
 * loading programs nor finding peers is measured.
 */
export async function syncSpeed(rest: BeaconRest, pid: number, target: number): Promise<SyncSpeed> {
  const begin = await observe(rest, pid, 1);
  const end = await observe(rest, pid, target);
  const slots = end.slot - begin.slot;
  const processor =
    begin.processorSeconds === undefined || end.processorSeconds === undefined
      ? undefined
      : ((end.processorSeconds - begin.processorSeconds) * 1000) / slots;
  return { slotsPerSecond: slots / (end.seconds - begin.seconds), processorMsPerSlot: processor };
}

async function observe(rest: BeaconRest, pid: number, atLeast: number) {
  for (;;) {
    const { slot } = await rest.head();
    if (slot >= atLeast) return { slot, seconds: performance.now() / 1000, processorSeconds: processorSeconds(pid) };
    await delay(POLL_MS);
  }
}

function processorSeconds(pid: number): number | undefined {
  try {
    return usageOf(pid).cpuSeconds;
  } catch {
    return undefined;
  }
}
