import { ForkName } from "@lodestar/params";
import type { BeaconChain } from "../../../chain/chain.ts";
import { type ItemFailure, rejected } from "../../../errors/failure.ts";
import { BuilderError } from "../../../execution/builder/builder.ts";
import { BuilderPreferenceEntries, type BuilderPreferenceEntry } from "../../../execution/builder/request-auth.ts";
import { defineEncoded, EMPTY_RESPONSE, post, required } from "../../definition.ts";
import { builderPreferenceEntries } from "../../params/builder-entries.ts";
import { pubkey } from "../../params/scalars.ts";
import { refuseBeforeGloas, requireSynced } from "../../preconditions.ts";
import { ACCEPTED } from "../../schemas.ts";
import { throwIfAnyFailed } from "../../submissions.ts";

/** Later than the library and its document (ethereum/beacon-APIs#630). */
const submitBuilderPreferences = defineEncoded({
  name: "post_v1_validator_builder_preferences_pubkey",
  summary: "Submits to the builder what a proposer accepts from it, ahead of the requests for bids.",
  params: {
    pubkey: required(pubkey, "Public key of the proposer."),
    preferences: required(
      builderPreferenceEntries,
      "Preferences by builder. Only the builder of --builder takes them.",
    ),
  },
  result: ACCEPTED,
  failures: ["rejected", "unavailable"],
  rest: [post("/eth/v1/validator/builder_preferences/{pubkey}", { ssz: "body" })],
  cost: "cheap",
  access: "submit",
  since: ForkName.gloas,
  example: { stage: "operate", params: (chain) => [chain.pubkey(3), []] },
  codec: () => EMPTY_RESPONSE,
  requestCodec: () => ({
    parseReqSsz: ({ body }) => ({ preferences: BuilderPreferenceEntries.deserialize(body) }),
  }),
  async handler({ chain }, { pubkey: proposerPubkey, preferences }) {
    requireSynced(chain);
    refuseBeforeGloas(chain.config, chain.clock.currentSlot + 1, "Builder preferences");
    const failures: ItemFailure[] = [];
    await Promise.all(
      preferences.map(async (entry, index) => {
        const message = typeof entry === "string" ? `The entry ${entry}` : await submit(chain, proposerPubkey, entry);
        if (message !== undefined) failures.push({ index, message });
      }),
    );
    throwIfAnyFailed(
      failures.sort((a, b) => a.index - b.index),
      preferences.length,
      rejected,
    );
  },
});

export const builderPreferencesMethods = [submitBuilderPreferences] as const;

/** Returns why the builder does not take the preferences. */
async function submit(
  { builderMarket }: BeaconChain,
  proposerPubkey: string,
  entry: BuilderPreferenceEntry,
): Promise<string | undefined> {
  try {
    await builderMarket.submitPreferences(proposerPubkey, entry);
    return undefined;
  } catch (error) {
    if (error instanceof BuilderError) return error.message;
    throw error;
  }
}
