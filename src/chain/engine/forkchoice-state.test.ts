import { expect, it } from "vitest";
import { makeBlock, optimistic, root } from "../../../test/support/chain/fork-choice/blocks.ts";
import { forkchoiceState } from "./forkchoice-state.ts";

const HEAD_HASH = root(0xe009);
const blocks = new Map(
  [makeBlock(3, 2, 3, { execution: optimistic(3) }), makeBlock(7, 6, 7, { execution: optimistic(7) })].map((block) => [
    block.root,
    block,
  ]),
);

it.each([
  ["is that of the safe block", root(7), false, root(0xe007)],
  ["is zero if the safe block is invalid, because it is not on the head's chain", root(7), true, root(0)],
  ["is zero if the safe block is unknown", root(5), false, root(0)],
])("the safe hash %s", (_, safeRoot, isInvalid, safeBlockHash) => {
  const finalized = { epoch: 0, root: root(3) };
  const view = { safeRoot, finalized, get: (of: string) => blocks.get(of), isInvalid: () => isInvalid };
  expect(forkchoiceState(view, HEAD_HASH)).toEqual({
    headBlockHash: HEAD_HASH,
    safeBlockHash,
    finalizedBlockHash: root(0xe003),
  });
});
