import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { invalidParams, unsupported } from "../failure.ts";

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
