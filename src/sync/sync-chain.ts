import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";

/** What syncing needs of the chain. */
export type SyncChain = Pick<
  BeaconChain,
  "config" | "clock" | "forkChoice" | "head" | "status" | "events" | "importBlock" | "importSegment"
>;

/** The last slot whose block can no longer change; no block at or before it can be imported. */
export function finalizedSlotOf({ forkChoice }: Pick<SyncChain, "forkChoice">, slotsPerEpoch: number): Slot {
  return forkChoice.finalized.epoch * slotsPerEpoch;
}
