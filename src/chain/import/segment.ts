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
import { attributeTo, BlockRejection } from "./block-rejection.ts";

/** A received block. */
export interface ArrivedBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
  /** Arrival in chain time. Later processing does not make the block late. */
  arrivedAt: number;
  /** Adds writes to the batch that stores the block. */
  extraWrites?: ExtraWrites;
}

export type ExtraWrites = (batch: BeaconDbBatch) => void;

/** Computes the block roots of a chain segment. Rejects the segment if a block is not the child of the previous one. */
export async function linkSegment(
  config: BeaconConfig,
  blocks: readonly SignedBeaconBlock[],
  arrivedAt: number,
): Promise<ArrivedBlock[]> {
  const segment: ArrivedBlock[] = [];
  for (const signed of blocks) {
    const { slot, parentRoot } = signed.message;
    const root = blockRoot(config, signed.message);
    const previous = segment.at(-1);
    if (previous && toRootHex(parentRoot) !== previous.root) {
      const message = `The block at slot ${slot} is not a child of the previous block at slot ${previous.signed.message.slot}.`;
      throw attributeTo(new BlockRejection("not-connected", message), { slot, root });
    }
    segment.push({ signed, root, arrivedAt });
    await nextTurn();
  }
  return segment;
}

/** Returns true if the chain has the block. Includes finalized blocks that fork choice has pruned. */
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
 * Returns true if applying the child, or advancing the state to its slot, can add validators. All states share one
 * append-only public key table, so only blocks known to be valid may extend it.
 */
export function mayAddValidators(state: CachedBeaconStateAllForks, { message }: SignedBeaconBlock): boolean {
  if (message.body.deposits.length > 0) return true;
  // electra/beacon-chain.md, process_pending_deposits: part of the epoch transition.
  const isNextEpoch = computeEpochAtSlot(message.slot) > computeEpochAtSlot(state.slot);
  return isNextEpoch && "pendingDeposits" in state && state.pendingDeposits.length > 0;
}
