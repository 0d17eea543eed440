import type { ChainForkConfig } from "@lodestar/config";
import { type ForkName, ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";
import { invalidParams, unavailable } from "../errors/failure.ts";
import type { ChainView } from "./chain-view.ts";

/** Refuses what would be wrong to answer from a view of the chain that lies far behind the clock. */
export function requireSynced({ status }: Pick<ChainView, "status">): void {
  if (status.isSyncing) {
    throw unavailable(`The node is syncing: its head is ${status.syncDistance} slots behind the current slot.`);
  }
}

/**
 * Refuses whatever a validator would sign: sync/optimistic.md, "Validator assignments", wants nothing signed by one whose
 * head block has a payload that nobody has checked.
 */
export async function requireVerifiedHead(chain: Pick<BeaconChain, "status" | "pendingVerdicts">): Promise<void> {
  // The engine may be about to say it, as when it has just been told of a new head.
  if (chain.status.isOptimistic) await chain.pendingVerdicts.untilHeadVerdict();
  if (chain.status.isOptimistic) {
    throw unavailable("The head block is verified only optimistically: its execution payload is not validated yet.");
  }
}

/** The same for a block beside the head's chain that validators are to vouch for. */
export function requireVerifiedBlock({ forkChoice }: Pick<ChainView, "forkChoice">, root: RootHex): void {
  const status = forkChoice.get(root)?.execution.status;
  if (status === "invalid") throw unavailable(`The execution payload of block ${root} is invalid.`);
  if (status === "optimistic") {
    throw unavailable(`Block ${root} is verified only optimistically: its execution payload is not validated yet.`);
  }
}

/** Refuses an argument of before the fork that brought what is asked of it; `what` begins a sentence and is in the plural. */
export function requireForkAt(config: ChainForkConfig, fork: ForkName, slot: Slot, what: string): void {
  if (config.getForkSeq(slot) >= ForkSeq[fork]) return;
  const { epoch } = config.forks[fork];
  const begins =
    epoch === Number.POSITIVE_INFINITY ? "which this chain does not schedule" : `which begins at epoch ${epoch}`;
  throw invalidParams(`${what} came with ${fork}, ${begins}: slot ${slot} is of ${config.getForkName(slot)}.`);
}
