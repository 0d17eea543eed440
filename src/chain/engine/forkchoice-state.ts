import type { RootHex } from "@lodestar/types";
import type { ForkchoiceState } from "../../execution/engine.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { executionBlockOf, type ForkChoiceBlock, type ForkChoiceNode } from "../fork-choice/types.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/** Parts of fork choice that `forkchoiceState` reads. */
export type ForkchoiceView = Pick<ForkChoice, "safeRoot" | "finalized" | "get" | "isInvalid">;

/** Builds the `ForkchoiceState` of the Engine API. */
export function forkchoiceState(forkChoice: ForkchoiceView, headBlockHash: RootHex): ForkchoiceState {
  const { safeRoot, finalized } = forkChoice;
  return {
    headBlockHash,
    // An invalid justified block is not on the head's chain.
    safeBlockHash: forkChoice.isInvalid(safeRoot) ? ZERO_HASH : finalBlockHash(forkChoice, safeRoot),
    finalizedBlockHash: finalBlockHash(forkChoice, finalized.root),
  };
}

/**
 * gloas/fork-choice.md, notify_forkchoice_updated, and get_safe_execution_block_hash: since gloas, a finalized or
 * confirmed block stands for the payload that it is built on, but not for its own.
 */
function finalBlockHash(forkChoice: ForkchoiceView, root: RootHex): RootHex {
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
