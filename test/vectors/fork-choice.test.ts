import { expect, it } from "vitest";
import { isFullTier } from "../support/suite/tier.ts";
import { ChainForkChoice } from "../support/vectors/chain-fork-choice.ts";
import { forkChoiceAnchor, runForkChoiceSteps } from "../support/vectors/fork-choice-steps.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

/** Cases of npm test. */
const FAST: Readonly<Record<string, readonly string[]>> = {
  fulu: [
    "ex_ante/ex_ante_vanilla",
    "get_head/discard_equivocations_on_attester_slashing",
    "get_head/filtered_block_tree",
    "get_proposer_head/basic_is_head_root",
    "get_proposer_head/basic_is_parent_root",
    "on_block/not_pull_up_current_epoch_block",
    "on_block/on_block_before_finalized",
    "on_block/on_block_future_block",
    "on_block/on_block_peerdas__invalid_wrong_proof_1",
    "on_block/on_block_peerdas__not_available",
    "on_block/proposer_boost_is_first_block",
    "on_block/proposer_boost_root_same_slot_untimely_block",
  ],
  gloas: [
    "get_head/get_head_full_payload_tiebreak",
    "on_attestation/validate_on_attestation_later_slot_full_vote_valid",
    "on_attestation/validate_on_attestation_same_slot_full_vote_rejected",
    "on_block/on_block_parent_full_accepts_verified_payload",
    "on_execution_payload_envelope/on_execution_payload_envelope_invalid_full_child",
    "on_execution_payload_envelope/on_execution_payload_envelope_valid",
    "on_payload_attestation_message/on_payload_attestation_message_valid",
    "payload_timeliness/payload_timeliness_above_threshold_returns_true",
  ],
};

const vectors = Object.entries(FAST).flatMap(([fork, fast]) =>
  vectorCases(fork, "fork_choice").filter(({ id }) => isFullTier || fast.includes(id)),
);

it.each(vectors.map((vector) => [vector.path.fork, vector.id, vector] as const))(
  "%s %s",
  async (_fork, _id, vector) => {
    const subject = await ChainForkChoice.open(vector, forkChoiceAnchor(vector));
    try {
      expect(await runForkChoiceSteps(vector, subject)).toBeGreaterThan(0);
    } finally {
      await subject.close();
    }
  },
);
