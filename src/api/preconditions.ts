import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import { invalidParams, unavailable, unsupported } from "../failure.ts";
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
export function requireVerifiedHead({ status }: Pick<ChainView, "status">): void {
  if (status.isOptimistic) {
    throw unavailable("The head block is verified only optimistically: its execution payload is not validated yet.");
  }
}

/** The same for a block beside the head's chain that validators are to vouch for. */
export function requireVerifiedBlock({ forkChoice }: Pick<ChainView, "forkChoice">, root: RootHex): void {
  if (forkChoice.get(root)?.execution.status === "optimistic") {
    throw unavailable(`Block ${root} is verified only optimistically: its execution payload is not validated yet.`);
  }
}

/** Refuses what has to do with sync committees on a chain that never gets any. */
export function requireSyncCommittees({ config }: Pick<ChainView, "config">): void {
  if (config.ALTAIR_FORK_EPOCH === Number.POSITIVE_INFINITY) {
    throw unsupported("This chain has no sync committees: no altair fork is scheduled.");
  }
}

/** Refuses what a fork brought on a chain that never comes to it; `what` begins a sentence and is in the plural. */
export function requireScheduled({ forks }: ChainForkConfig, fork: ForkName, what: string): void {
  if (forks[fork].epoch === Number.POSITIVE_INFINITY) {
    throw unsupported(`${what} came with ${fork}, a fork that is not scheduled on this chain.`);
  }
}

/** Refuses an argument of before the fork that brought what is asked of it. */
export function requireForkAt(config: ChainForkConfig, fork: ForkName, slot: Slot, what: string): void {
  requireScheduled(config, fork, what);
  if (config.getForkSeq(slot) < config.forks[fork].seq) {
    throw invalidParams(
      `${what} came with ${fork}, which begins at epoch ${config.forks[fork].epoch}: slot ${slot} is of ` +
        `${config.getForkName(slot)}.`,
    );
  }
}
