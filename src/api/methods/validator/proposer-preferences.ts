import { ForkName } from "@lodestar/params";
import { type gloas, ssz } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { type Outcome, outcomeOf } from "../../../chain/validation/outcome.ts";
import { defineOperation, post, required } from "../../definition.ts";
import { CONSENSUS_VERSION, requireVersion } from "../../params/consensus-version.ts";
import { payloadList, plainSszPayload } from "../../params/ssz-payload.ts";
import { refuseBeforeGloas } from "../../preconditions.ts";
import { ACCEPTED, shape } from "../../schemas.ts";
import { submitAll } from "../../submissions.ts";

const submitProposerPreferences = defineOperation("validator.submitProposerPreferences", {
  name: "post_v1_validator_proposer_preferences",
  summary:
    "Submits the fee recipients and gas limits that proposers want, which bids have to match. Also prepares the node to " +
    "propose their blocks.",
  params: {
    signedProposerPreferences: required(
      payloadList(
        "signed proposer preferences",
        plainSszPayload(
          "signed proposer preferences",
          ssz.gloas.SignedProposerPreferences,
          shape("SignedProposerPreferences"),
        ),
      ),
      "Preferences, one for each proposal of the current and the next epoch.",
      { name: "signed_preferences" },
    ),
    consensusVersion: CONSENSUS_VERSION,
  },
  result: ACCEPTED,
  failures: ["rejected"],
  rest: [post("/eth/v1/validator/proposer_preferences", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  since: ForkName.gloas,
  example: { stage: "attest", params: async (chain) => [[await chain.proposerPreferences()], ForkName.gloas] },
  async handler({ chain, broadcast }, { signedProposerPreferences, consensusVersion }) {
    const { config } = chain;
    for (const { message } of signedProposerPreferences) {
      refuseBeforeGloas(config, message.proposalSlot, "Proposer preferences");
      requireVersion(consensusVersion, config.getForkName(message.proposalSlot));
    }
    await submitAll(
      signedProposerPreferences,
      (items) => processAll(chain, items),
      (preferences) => broadcast.proposerPreferences(preferences),
    );
  },
});

export const proposerPreferencesMethods = [submitProposerPreferences] as const;

async function processAll(
  { processor, preparations, clock }: BeaconChain,
  items: readonly gloas.SignedProposerPreferences[],
): Promise<Outcome<void>[]> {
  const outcomes: Outcome<void>[] = [];
  for (const signed of items) {
    const outcome = await outcomeOf(() => processor.proposerPreferences(signed));
    const { validatorIndex, feeRecipient } = signed.message;
    // The proposer uses this node, which should have a payload ready.
    if (outcome.ok) preparations.prepare(validatorIndex, feeRecipient, clock.currentEpoch);
    outcomes.push(outcome);
  }
  return outcomes;
}
