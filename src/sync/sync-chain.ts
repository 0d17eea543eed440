import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";

/** What syncing needs of the chain. */
export type SyncChain = Pick<
  BeaconChain,
  | "config"
  | "clock"
  | "forkChoice"
  | "head"
  | "status"
  | "events"
  | "importBlock"
  | "importSegment"
  | "isWaitingForEngine"
  | "isWaitingForData"
  | "data"
  | "validation"
  | "engineAnswers"
>;

/** The last slot whose block can no longer change; no block at or before it can be imported. */
export function finalizedSlotOf({ forkChoice }: Pick<SyncChain, "forkChoice">, slotsPerEpoch: number): Slot {
  const { epoch, root } = forkChoice.finalized;
  // A chain may have been started from a block in the middle of its epoch.
  return Math.max(epoch * slotsPerEpoch, forkChoice.get(root)?.slot ?? 0);
}
