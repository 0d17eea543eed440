import { ForkName } from "@lodestar/params";
import type { ExampleDevChain } from "../support/example-chain.ts";
import {
  answers,
  fails,
  INVALID,
  LAST_UINT64,
  NOT_FOUND,
  PUBKEY,
  REJECTED,
  ROOT,
  type SpecialCall,
  UNSUPPORTED,
} from "./special-call.ts";

const changedMessage = (signed: Record<string, unknown>, changes: Record<string, unknown>) => ({
  ...signed,
  message: { ...(signed.message as Record<string, unknown>), ...changes },
});
const syncSubscriptionWith = (
  what: string,
  changes: (chain: ExampleDevChain) => Record<string, unknown>,
): SpecialCall => {
  const valid = { validator_index: "1", sync_committee_indices: ["0"], until_epoch: "9" };
  return fails(what, INVALID, (chain) => [[{ ...valid, ...changes(chain) }]], ForkName.fulu);
};

const LAST_EPOCH = "2305843009213693951";
const ofGloas = (...params: unknown[]): SpecialCall[] => [fails("a fork that is not known", UNSUPPORTED, () => params)];

/** Of the methods for validators and light clients that the interface document does not number. */
export const EXTENDED_VALIDATOR_SPECIAL_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  post_v2_validator_aggregate_and_proofs: [
    fails("no aggregates", INVALID, () => [[]]),
    fails("an aggregator that does not exist", REJECTED, async (chain) => [
      [changedMessage(await chain.signedAggregate(), { aggregator_index: "99" })],
    ]),
    fails("another fork than the slot's", INVALID, async (chain) => [
      [await chain.signedAggregate()],
      chain.fork === ForkName.phase0 ? ForkName.fulu : ForkName.phase0,
    ]),
  ],
  post_v1_validator_liveness_epoch: [
    fails("an epoch that has not come", INVALID, (chain) => [chain.epoch + 1, ["0"]]),
    fails("an epoch long past", INVALID, (chain) => [chain.epoch - 2, ["0"]]),
    fails("a validator that does not exist", INVALID, (chain) => [chain.epoch, ["0", chain.validatorCount]]),
    fails("no validators", INVALID, (chain) => [chain.epoch, []]),
  ],
  post_v1_validator_prepare_beacon_proposer: [
    fails("no preparations", INVALID, () => [[]]),
    {
      ...answers("a validator that does not exist yet", true, () => [
        [{ validator_index: "99", fee_recipient: `0x${"ab".repeat(20)}` }],
      ]),
      only: ForkName.fulu,
    },
  ],
  post_v1_validator_register_validator: [
    fails("no registrations", INVALID, () => [[]]),
    {
      ...answers("a key that nobody has", true, (chain) => [
        [changedMessage(chain.registration(1), { pubkey: PUBKEY })],
      ]),
      only: ForkName.fulu,
    },
  ],
  post_v1_validator_sync_committee_subscriptions: [
    fails("no subscriptions", INVALID, () => [[]]),
    syncSubscriptionWith("a validator that does not exist", ({ validatorCount }) => ({
      validator_index: `${validatorCount}`,
    })),
    syncSubscriptionWith("a position that no committee has", () => ({ sync_committee_indices: ["32"] })),
    syncSubscriptionWith("an epoch that has passed", ({ epoch }) => ({ until_epoch: `${epoch - 1}` })),
  ],
  post_v1_validator_beacon_committee_selections: [fails("no selections", INVALID, () => [[]])],
  post_v1_validator_sync_committee_selections: [fails("no selections", INVALID, () => [[]])],
  post_v1_validator_duties_ptc_epoch: [
    fails("no validators", INVALID, (chain) => [chain.epoch, []]),
    ...ofGloas(LAST_EPOCH, ["99"]),
  ],
  get_v4_validator_blocks_slot: [
    ...ofGloas(LAST_UINT64, `0x${"33".repeat(96)}`),
    fails("too long a graffiti", INVALID, async (chain) => [chain.slot, await chain.randaoReveal(), "é".repeat(17)]),
  ],
  get_v1_validator_payload_attestation_data: ofGloas(LAST_UINT64),
  post_v1_validator_proposer_preferences: [fails("no preferences", INVALID, () => [[]])],
  get_v1_validator_execution_payload_bids_slot_builderIndex: ofGloas(LAST_UINT64, LAST_UINT64),
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot: ofGloas(LAST_UINT64, ROOT),
  get_v1_beacon_light_client_bootstrap_blockRoot: [
    fails("an unknown block", NOT_FOUND, () => [ROOT], ForkName.fulu),
    fails(
      "the root of a state",
      NOT_FOUND,
      async (chain) => [(await chain.caller.call("get_v1_beacon_states_root", ["head"])).root],
      ForkName.fulu,
    ),
  ],
  get_v1_beacon_light_client_updates: [
    { ...answers("no periods", [], () => [0, 0]), only: ForkName.fulu },
    { ...answers("a period that has not come", [], () => [1, 5]), only: ForkName.fulu },
    { ...answers("the last of all periods", [], () => [LAST_UINT64, LAST_UINT64]), only: ForkName.fulu },
  ],
};
