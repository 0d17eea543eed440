import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";

/** The part of the chain that the sync uses. */
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
  | "importPayload"
  | "isPayloadPending"
  | "isAwaitingPayload"
  | "blocks"
  | "history"
  | "isImporting"
  | "isWaitingForEngine"
  | "isWaitingForData"
  | "data"
  | "validation"
  | "pendingVerdicts"
>;

/** Returns the finalized slot. Blocks at or before this slot cannot be imported. */
export function finalizedSlotOf({ forkChoice }: Pick<SyncChain, "forkChoice">, slotsPerEpoch: number): Slot {
  const { epoch, root } = forkChoice.finalized;
  // The anchor block may be later than the start of the finalized epoch.
  return Math.max(epoch * slotsPerEpoch, forkChoice.get(root)?.slot ?? 0);
}
