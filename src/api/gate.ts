import type { BeaconChain } from "../chain/chain.ts";
import { unavailable } from "../failure.ts";
import type { ChainView } from "./chain-view.ts";

/** Refuses what would be wrong to answer from a view of the chain that lies far behind the clock. */
export function requireSynced({ status }: Pick<ChainView, "status">): void {
  if (status.isSyncing) {
    throw unavailable(`The node is syncing: its head is ${status.syncDistance} slots behind the current slot.`);
  }
}

/** Refuses to vouch for blocks whose payloads the execution engine has not verified. */
export function requireVerifiedHead({ status }: BeaconChain): void {
  if (status.isOptimistic) {
    throw unavailable("The head block is verified only optimistically: its execution payload is not validated yet.");
  }
}
