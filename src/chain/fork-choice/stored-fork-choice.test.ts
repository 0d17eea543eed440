import { inflateSync } from "node:zlib";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import {
  addBlock,
  makeBlock,
  makeForkChoice,
  optimistic,
  root,
} from "../../../test/support/chain/fork-choice/blocks.ts";
import type { ForkChoice } from "./fork-choice.ts";
import {
  deserializeForkChoiceBlock,
  deserializeVotes,
  serializeForkChoiceBlock,
  serializeVotes,
} from "./stored-fork-choice.ts";
import { voteTarget } from "./tree/proto-array.ts";
import type { ForkChoiceBlock } from "./types.ts";

const checkpoints: Partial<ForkChoiceBlock> = {
  justified: { epoch: 3, root: root(3) },
  finalized: { epoch: 2, root: root(2) },
  unrealizedJustified: { epoch: 5, root: root(5) },
  unrealizedFinalized: { epoch: 4, root: root(4) },
};

const BID = { blockHash: root(0xe009), parentBlockHash: root(0xe008) };

it.each([
  ["before the merge", makeBlock(9, 8, 70, checkpoints)],
  ["without its payload", makeBlock(9, 8, 70, { ...checkpoints, execution: { status: "absent" }, bid: BID })],
  [
    "with the payload of its bid",
    makeBlock(9, 8, 70, {
      ...checkpoints,
      execution: { status: "invalid", blockHash: BID.blockHash, blockNumber: 7 },
      bid: BID,
    }),
  ],
  ["with a payload", makeBlock(9, 8, 2 ** 40, { ...checkpoints, execution: optimistic(9) })],
])("fork choice data of a block %s round-trips", (_, block) => {
  const { slot, root: own, parentRoot } = block;
  expect(deserializeForkChoiceBlock(serializeForkChoiceBlock(block), { slot, root: own, parentRoot })).toEqual(block);
});

/** Validators 1 and 3 vote for block 2, and validator 3 equivocates. */
function votedForkChoice(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  forkChoice.onTick(SLOTS_PER_EPOCH + 1);
  const slot = SLOTS_PER_EPOCH;
  forkChoice.onAttestation({ indices: [1, 3], slot, targetEpoch: 1, blockRoot: root(2) });
  forkChoice.onAttesterSlashing([3]);
  return forkChoice;
}

it("votes round-trip, also those without a target", async () => {
  const votes = { ...votedForkChoice().exportVotes(), leaves: [root(2)] };
  expect([...votes.messages.targets]).toEqual([-1, 0, -1, -1]);
  expect(await deserializeVotes(await serializeVotes(votes))).toEqual(votes);
});

it("votes with a payload status round-trip", async () => {
  const exported = { ...votedForkChoice().exportVotes(), roots: [root(2), root(3)], leaves: [root(2)] };
  const targets = Int32Array.of(voteTarget(1, "full"), voteTarget(0, "empty"), -1, -1);
  const votes = { ...exported, messages: { ...exported.messages, targets } };
  expect(await deserializeVotes(await serializeVotes(votes))).toEqual(votes);
});

it("reads votes of versions without payload statuses, compressed and uncompressed", async () => {
  const votes = { ...votedForkChoice().exportVotes(), leaves: [root(2)] };
  const stored = await serializeVotes({
    ...votes,
    // Positions instead of targets, and epochs instead of slots.
    messages: { ...votes.messages, slots: votes.messages.slots.map((slot) => (slot === 0 ? 0 : 2)) },
  });
  const compressed = stored.subarray(1);
  expect(await deserializeVotes(compressed)).toEqual(votes);
  expect(await deserializeVotes(new Uint8Array(inflateSync(compressed)))).toEqual(votes);
});
