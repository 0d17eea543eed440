import type { RootHex } from "@lodestar/types";
import type { ForkchoiceState } from "../execution/engine.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/** What of fork choice the execution engine is told about. */
export type ForkchoiceView = Pick<ForkChoice, "justified" | "finalized" | "get">;

/** What the execution engine is told of fork choice together with a head of its own chain. */
export function forkchoiceState(forkChoice: ForkchoiceView, headBlockHash: RootHex): ForkchoiceState {
  const { justified, finalized } = forkChoice;
  const safe = forkChoice.get(justified.root);
  return {
    headBlockHash,
    // The engine may refuse the justified block, which is not on the chain of the head then.
    safeBlockHash: (safe?.execution.status === "invalid" ? null : blockHashOf(safe)) ?? ZERO_HASH,
    finalizedBlockHash: blockHashOf(forkChoice.get(finalized.root)) ?? ZERO_HASH,
  };
}

export function blockHashOf(block: ForkChoiceBlock | undefined): RootHex | null {
  return block && block.execution.status !== "pre-merge" ? block.execution.blockHash : null;
}
