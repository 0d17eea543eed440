import type { RootHex } from "@lodestar/types";
import type { ForkchoiceState } from "../../execution/engine.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/** Parts of fork choice that `forkchoiceState` reads. */
export type ForkchoiceView = Pick<ForkChoice, "justified" | "finalized" | "get">;

/** Builds the `ForkchoiceState` of the Engine API. */
export function forkchoiceState(forkChoice: ForkchoiceView, headBlockHash: RootHex): ForkchoiceState {
  const { justified, finalized } = forkChoice;
  const safe = forkChoice.get(justified.root);
  return {
    headBlockHash,
    // An invalid justified block is not on the head's chain.
    safeBlockHash: (safe?.execution.status === "invalid" ? null : blockHashOf(safe)) ?? ZERO_HASH,
    finalizedBlockHash: blockHashOf(forkChoice.get(finalized.root)) ?? ZERO_HASH,
  };
}

export function blockHashOf(block: ForkChoiceBlock | undefined): RootHex | null {
  return block && block.execution.status !== "pre-merge" ? block.execution.blockHash : null;
}
