import type { ChainForkConfig } from "@lodestar/config";
import { ForkName, ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";
import { invalidParams, rejected, unavailable } from "../errors/failure.ts";
import type { ChainView } from "./chain-view.ts";

/** Throws if the node is syncing. */
export function requireSynced({ status }: Pick<ChainView, "status">): void {
  if (status.isSyncing) {
    throw unavailable(`The node is syncing: its head is ${status.syncDistance} slots behind the current slot.`);
  }
}

/**
 * Throws if the head is optimistic, since validators must not sign on top of such a head (sync/optimistic.md,
 * "Validator assignments").
 */
export async function requireVerifiedHead(chain: Pick<BeaconChain, "status" | "pendingVerdicts">): Promise<void> {
  // The engine may be about to respond, for example after a new head.
  if (chain.status.isOptimistic) await chain.pendingVerdicts.untilHeadVerdict();
  if (chain.status.isOptimistic) {
    throw unavailable("The head block is verified only optimistically: its execution payload is not validated yet.");
  }
}

/**
 * Throws if a block is optimistic or invalid, since validators are going to attest to it. Since gloas, its own payload
 * counts only with `isFull`.
 */
export function requireVerifiedBlock(
  { forkChoice, payloads }: Pick<BeaconChain, "forkChoice" | "payloads">,
  root: RootHex,
  { isFull = false } = {},
): void {
  const block = forkChoice.get(root);
  if (block === undefined) return;
  const payloadStatus = block.bid === undefined || isFull ? "full" : "pending";
  if (!payloads.isNodeOptimistic({ root, payloadStatus })) return;
  const { status } = forkChoice.payloadBlock({ root, payloadStatus })?.execution ?? {};
  if (status === "invalid") throw unavailable(`The execution payload of block ${root} is invalid.`);
  throw unavailable(`Block ${root} is verified only optimistically: its execution payload is not validated yet.`);
}

/** Throws if a submitted object is for a slot before gloas, which has no such objects. */
export function refuseBeforeGloas(config: ChainForkConfig, slot: Slot, noun: string): void {
  try {
    // An infinite slot would belong to a fork that is not scheduled.
    requireForkAt(config, ForkName.gloas, Math.min(slot, Number.MAX_SAFE_INTEGER), noun);
  } catch (error) {
    const { message } = error as Error;
    throw rejected(`The submission was rejected: ${message}`, { detail: message });
  }
}

/**
 * Throws if the slot is before the fork that introduced a feature. `noun` is the plural name of the feature and starts
 * the sentence.
 */
export function requireForkAt(config: ChainForkConfig, fork: ForkName, slot: Slot, noun: string): void {
  if (config.getForkSeq(slot) >= ForkSeq[fork]) return;
  const { epoch } = config.forks[fork];
  const start =
    epoch === Number.POSITIVE_INFINITY ? "which is not scheduled on this chain" : `which begins at epoch ${epoch}`;
  throw invalidParams(`${noun} require ${fork}, ${start}: slot ${slot} is of ${config.getForkName(slot)}.`);
}
