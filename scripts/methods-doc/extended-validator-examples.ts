import { ssz } from "@lodestar/types";
import type { Example } from "./example.ts";
import { proposal, signedRegistration } from "./signed-examples.ts";

const FEE_RECIPIENT = `0x${"fe".repeat(20)}`;
const { SignedProposerPreferences } = ssz.gloas;

const onFulu = (...params: unknown[]): Example => ({ fork: "fulu", params: () => params });

/** Calls on a chain with execution payloads, for validators and light clients. */
export const EXTENDED_VALIDATOR_EXAMPLES: Readonly<Record<string, Example>> = {
  post_v1_validator_prepare_beacon_proposer: {
    fork: "fulu",
    params: () => [[{ validator_index: "3", fee_recipient: FEE_RECIPIENT }]],
  },
  get_v1_beacon_light_client_bootstrap_blockRoot: {
    fork: "fulu",
    params: async (chain) => {
      const { root } = await chain.result<{ root: string }>("get_v1_beacon_blocks_blockId_root", "finalized");
      return [root];
    },
  },
  get_v1_beacon_light_client_updates: { fork: "fulu", params: () => ["0", "1"] },
  get_v1_beacon_light_client_finality_update: { fork: "fulu", params: () => [] },
  get_v1_beacon_light_client_optimistic_update: { fork: "fulu", params: () => [] },
  post_v1_validator_register_validator: {
    fork: "fulu",
    params: (chain) => {
      const registration = { fee_recipient: FEE_RECIPIENT, gas_limit: "60000000", timestamp: "1700000000" };
      return [[signedRegistration(chain, 3, registration)]];
    },
  },

  // Of a fork that the node does not know.
  post_v1_validator_duties_ptc_epoch: onFulu("5", ["3", "4"]),
  get_v4_validator_blocks_slot: {
    fork: "fulu",
    params: async (chain) => {
      await chain.reach(chain.slot);
      const { randaoReveal } = await proposal(chain, chain.slot);
      return [String(chain.slot), randaoReveal, "an example", false, true];
    },
  },
  get_v1_validator_payload_attestation_data: onFulu("41"),
  post_v1_validator_proposer_preferences: onFulu([
    SignedProposerPreferences.toJson(SignedProposerPreferences.defaultValue()),
  ]),
  get_v1_validator_execution_payload_bids_slot_builderIndex: onFulu("41", "0"),
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot: onFulu("41", `0x${"11".repeat(32)}`),
};
