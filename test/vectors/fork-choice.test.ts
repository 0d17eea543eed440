import { expect, it } from "vitest";
import { ChainForkChoice } from "../support/vectors/chain-fork-choice.ts";
import { forkChoiceAnchor, runForkChoiceSteps } from "../support/vectors/fork-choice-steps.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

it.each(vectorCases("fulu", "fork_choice").map((vector) => [vector.id, vector] as const))(
  "fulu %s",
  async (_, vector) => {
    const subject = await ChainForkChoice.open(vector, forkChoiceAnchor(vector));
    try {
      expect(await runForkChoiceSteps(vector, subject)).toBeGreaterThan(0);
    } finally {
      await subject.close();
    }
  },
);
