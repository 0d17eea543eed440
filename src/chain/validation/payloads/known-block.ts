import type { RootHex } from "@lodestar/types";
import type { ForkChoiceBlock } from "../../fork-choice/types.ts";
import type { ValidationContext } from "../context.ts";
import { ignore, reject } from "../outcome.ts";

/** Returns the block that an object since gloas refers to. Rejects an invalid block and ignores an unknown one. */
export function refuseUnknownBlock(
  { forkChoice, invalidBlocks }: Pick<ValidationContext, "forkChoice" | "invalidBlocks">,
  root: RootHex,
  what: string,
): ForkChoiceBlock {
  const block = forkChoice.get(root);
  if (block) return block;
  if (invalidBlocks.has(root)) {
    throw reject("invalid-block", `${what} is for block ${root}, which is invalid or descends from an invalid block.`);
  }
  throw ignore("unknown-block", `${what} is for the unknown block ${root}.`);
}
