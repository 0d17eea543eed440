import { sszTypesFor } from "@lodestar/types";
import { expect, it } from "vitest";
import { isFullTier } from "../support/suite/tier.ts";
import { forkChoiceAnchor, runForkChoiceSteps } from "../support/vectors/fork-choice-steps.ts";
import { ModelledForkChoice } from "../support/vectors/modelled-fork-choice.ts";
import type { VectorCase } from "../support/vectors/vector-case.ts";
import { configAtFork } from "../support/vectors/vector-config.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

/** Short cases and those about rules that gloas adds. The others are histories of several epochs. */
const FAST_TIER =
  /^(ex_ante|get_proposer_head|get_parent_payload_status|on_attestation|on_execution_payload_envelope|on_payload_attestation_message|payload_data_availability|payload_timeliness|should_apply_proposer_boost)\/|tiebreak|parent_full/;

/** Data availability is not a part of fork choice itself. These cases run through the import of whole chains. */
const isAboutColumns = ({ id }: VectorCase) => id.includes("peerdas");

const cases = ["fulu", "gloas"]
  .flatMap((fork) => vectorCases(fork, "fork_choice"))
  .filter((vector) => !isAboutColumns(vector) && FAST_TIER.test(vector.id) !== isFullTier)
  .map((vector) => [`${vector.path.fork} ${vector.id}`, vector] as const);

it.each(cases)("%s", async (_, vector) => {
  const anchor = forkChoiceAnchor(vector);
  const { genesisValidatorsRoot } = sszTypesFor(anchor.fork).BeaconState.deserialize(anchor.stateBytes);
  const subject = new ModelledForkChoice(anchor, configAtFork(anchor.fork, genesisValidatorsRoot));
  expect(await runForkChoiceSteps(vector, subject)).toBeGreaterThan(0);
});
