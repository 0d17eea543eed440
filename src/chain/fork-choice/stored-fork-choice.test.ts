import { inflateSync } from "node:zlib";
import { expect, it } from "vitest";
import {
  addBlock,
  makeBlock,
  makeForkChoice,
  optimistic,
  root,
} from "../../../test/support/chain/fork-choice/blocks.ts";
import {
  deserializeForkChoiceBlock,
  deserializeVotes,
  serializeForkChoiceBlock,
  serializeVotes,
} from "./stored-fork-choice.ts";
import type { ForkChoiceBlock } from "./types.ts";

const checkpoints: Partial<ForkChoiceBlock> = {
  justified: { epoch: 3, root: root(3) },
  finalized: { epoch: 2, root: root(2) },
  unrealizedJustified: { epoch: 5, root: root(5) },
  unrealizedFinalized: { epoch: 4, root: root(4) },
};

it.each([
  ["before the merge", makeBlock(9, 8, 70, checkpoints)],
  ["with a payload", makeBlock(9, 8, 2 ** 40, { ...checkpoints, execution: optimistic(9) })],
])("fork choice data of a block %s round-trips", (_, block) => {
  const { slot, root: own, parentRoot } = block;
  expect(deserializeForkChoiceBlock(serializeForkChoiceBlock(block), { slot, root: own, parentRoot })).toEqual(block);
});

it("votes round-trip, also those without a node and uncompressed ones", async () => {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  forkChoice.onTick(2);
  forkChoice.onAttestation({ indices: [1, 3], slot: 1, targetEpoch: 0, blockRoot: root(2) });
  forkChoice.onAttesterSlashing([3]);
  const votes = { ...forkChoice.exportVotes(), leaves: [root(2)] };
  expect([...votes.messages.nodes]).toEqual([-1, 0, -1, -1]);
  const stored = await serializeVotes(votes);
  expect(await deserializeVotes(stored)).toEqual(votes);
  expect(await deserializeVotes(new Uint8Array(inflateSync(stored)))).toEqual(votes);
});
