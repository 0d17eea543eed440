import type { RootHex } from "@lodestar/types";
import type { ForkchoiceState } from "../../execution/engine.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { type Checkpoint, executionBlockOf, type ForkChoiceBlock, type ForkChoiceNode } from "../fork-choice/types.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/** Parts of fork choice that `forkchoiceState` reads. */
export type ForkchoiceView = Pick<ForkChoice, "justified" | "finalized" | "get" | "isInvalid">;

/** Builds the `ForkchoiceState` of the Engine API. */
export function forkchoiceState(forkChoice: ForkchoiceView, headBlockHash: RootHex): ForkchoiceState {
  const { justified, finalized } = forkChoice;
  return {
    headBlockHash,
    // An invalid justified block is not on the head's chain.
    safeBlockHash: forkChoice.isInvalid(justified.root) ? ZERO_HASH : checkpointBlockHash(forkChoice, justified),
    finalizedBlockHash: checkpointBlockHash(forkChoice, finalized),
  };
}

/**
 * gloas/fork-choice.md, notify_forkchoice_updated: since gloas, a checkpoint covers the payload that its block is built
 * on, but not the block's own.
 */
function checkpointBlockHash(forkChoice: ForkchoiceView, { root }: Checkpoint): RootHex {
  return executionHashOf(forkChoice, { root, payloadStatus: "empty" }) ?? ZERO_HASH;
}

/** Returns the hash of the newest payload on the node's chain; null before the merge or for unknown blocks. */
export function executionHashOf(
  forkChoice: Pick<ForkChoice, "get">,
  { root, payloadStatus }: ForkChoiceNode,
): RootHex | null {
  const block = forkChoice.get(root);
  if (block?.bid === undefined) return blockHashOf(block);
  return payloadStatus === "full" ? block.bid.blockHash : block.bid.parentBlockHash;
}

/** Returns the hash of the block's own payload; null if there is none or none has been verified. */
export function blockHashOf(block: ForkChoiceBlock | undefined): RootHex | null {
  return (block && executionBlockOf(block)?.blockHash) ?? null;
}
