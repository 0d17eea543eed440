import { expect, it } from "vitest";
import { ChainForkChoice } from "../support/vectors/chain-fork-choice.ts";
import { forkChoiceAnchor, runForkChoiceSteps } from "../support/vectors/fork-choice-steps.ts";
import { sampleOf, titled } from "../support/vectors/sample.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

/** Cases of npm test besides the first of each handler. */
const NAMED = [
  "get_head/discard_equivocations_on_attester_slashing",
  "get_head/filtered_block_tree",
  "get_proposer_head/basic_is_parent_root",
  "on_block/not_pull_up_current_epoch_block",
  "on_block/on_block_before_finalized",
  "on_block/on_block_future_block",
  "on_block/on_block_peerdas__invalid_wrong_proof_1",
  "on_block/on_block_peerdas__not_available",
  "on_block/proposer_boost_is_first_block",
  "on_block/proposer_boost_root_same_slot_untimely_block",
];

it.each(titled(sampleOf(vectorCases("fulu", "fork_choice"), 100, NAMED)))("fulu %s", async (_, vector) => {
  const subject = await ChainForkChoice.open(vector, forkChoiceAnchor(vector));
  try {
    expect(await runForkChoiceSteps(vector, subject)).toBeGreaterThan(0);
  } finally {
    await subject.close();
  }
});
