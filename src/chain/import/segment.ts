import { setImmediate as nextTurn } from "node:timers/promises";
import type { BeaconConfig } from "@lodestar/config";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDbBatch } from "../../db/beacon-db.ts";
import { blockRoot } from "../blocks/block-encoding.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { BlockRejection, blaming } from "./block-rejection.ts";

/** A block as it came. */
export interface ArrivedBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
  /** When it came, in chain time: whatever happens to it afterwards does not make it late. */
  arrivedAt: number;
  /** What is to be stored in the same write as the block, if there is anything. */
  alongside?: Alongside;
}

export type Alongside = (batch: BeaconDbBatch) => void;

/** Finds the roots of blocks that are said to be a chain, and refuses them when one is not the child of the one before. */
export async function linkSegment(
  config: BeaconConfig,
  blocks: readonly SignedBeaconBlock[],
  arrivedAt: number,
): Promise<ArrivedBlock[]> {
  const linked: ArrivedBlock[] = [];
  for (const signed of blocks) {
    const { slot, parentRoot } = signed.message;
    const root = blockRoot(config, signed.message);
    const before = linked.at(-1);
    if (before && toRootHex(parentRoot) !== before.root) {
      const message = `The block of slot ${slot} does not build on the block of slot ${before.signed.message.slot} before it.`;
      throw blaming(new BlockRejection("not-connected", message), { slot, root });
    }
    linked.push({ signed, root, arrivedAt });
    await nextTurn();
  }
  return linked;
}

/** Whether the chain has the block: fork choice forgets those of the finalized history. */
export async function isKnownBlock(
  { root, signed }: ArrivedBlock,
  { forkChoice, blocks }: { forkChoice: ForkChoice; blocks: BlockStore },
): Promise<boolean> {
  if (forkChoice.has(root)) return true;
  const { slot } = signed.message;
  const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  return slot <= finalizedSlot && (await blocks.isCanonical(root, slot));
}

/**
 * Whether the way from a block's post-state over its child may add validators. All states share one table of their keys,
 * which nothing leaves again: what adds to it must follow from blocks that are known to be valid.
 */
export function mayAddValidators(state: CachedBeaconStateAllForks, { message }: SignedBeaconBlock): boolean {
  if (message.body.deposits.length > 0) return true;
  // electra/beacon-chain.md, process_pending_deposits: a part of the epoch transition.
  const isNextEpoch = computeEpochAtSlot(message.slot) > computeEpochAtSlot(state.slot);
  return isNextEpoch && "pendingDeposits" in state && state.pendingDeposits.length > 0;
}
