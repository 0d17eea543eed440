import { ForkName } from "@lodestar/params";
import type { ExampleDevChain } from "../../support/api/example-chain.ts";
import {
  answers,
  fails,
  INVALID,
  LAST_EPOCH,
  LAST_UINT64,
  NOT_FOUND,
  nothing,
  PUBKEY,
  REJECTED,
  ROOT,
  type SignedJson,
  type SpecialCall,
  UNSUPPORTED,
} from "./special-call.ts";

const SIGNATURE = `0x${"33".repeat(96)}`;

const duties = (...others: unknown[]): SpecialCall[] => [
  fails("an epoch too far ahead", INVALID, (chain) => [chain.epoch + 2, ...others]),
  fails("an epoch whose slots are no uint64", INVALID, () => [LAST_UINT64, ...others]),
  fails("the last of all epochs", INVALID, () => [LAST_EPOCH, ...others]),
];
const attesterDuties: SpecialCall[] = [
  ...duties(["0"]),
  fails("no validators", INVALID, (chain) => [chain.epoch, []]),
  fails("one validator that is no list", INVALID, (chain) => [chain.epoch, "0"]),
  fails("an index that no registry has", INVALID, (chain) => [chain.epoch, [LAST_UINT64]]),
  answers("unknown validators", [], (chain) => [chain.epoch, [PUBKEY, chain.validatorCount]]),
];

const attestationData: SpecialCall[] = [
  fails("a slot too far ahead", INVALID, (chain) => [chain.slot + 2, 0]),
  fails("the last of all slots", INVALID, () => [LAST_UINT64, 0]),
  fails("a committee that the slot does not have", INVALID, (chain) => [chain.slot, 1], ForkName.phase0),
  fails("no committee", INVALID, (chain) => [chain.slot], ForkName.phase0),
];
const unknownAggregate: SpecialCall[] = [
  fails("an unknown root", NOT_FOUND, (chain) => [chain.slot, ROOT]),
  fails("an unknown root, with a committee", NOT_FOUND, (chain) => [chain.slot, ROOT, 0]),
  fails("another slot than the data's", NOT_FOUND, async (chain) => [
    chain.slot - 1,
    await chain.attestationDataRoot(),
  ]),
  fails("the last of all slots", NOT_FOUND, async (chain) => [LAST_UINT64, await chain.attestationDataRoot()]),
  fails("a committee that the slot does not have", NOT_FOUND, async (chain) => [
    chain.slot,
    await chain.attestationDataRoot(),
    LAST_UINT64,
  ]),
];

const changedMessage = (signed: Record<string, unknown>, changes: Record<string, unknown>) => ({
  ...signed,
  message: { ...(signed.message as Record<string, unknown>), ...changes },
});
const aggregateWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => [
  changedMessage(await chain.signedAggregate(), changes),
];
const subscriptionWith = (what: string, changes: (chain: ExampleDevChain) => Record<string, unknown>): SpecialCall =>
  fails(what, INVALID, (chain) => [{ ...chain.subscription(), ...changes(chain) }]);

const wrongProductions: SpecialCall[] = [
  fails("a slot that has a block", INVALID, async (chain) => [chain.slot - 1, await chain.randaoReveal()]),
  fails("a slot too far ahead", INVALID, async (chain) => [chain.slot + 16, await chain.randaoReveal()]),
  fails("the last of all slots", INVALID, async (chain) => [LAST_UINT64, await chain.randaoReveal()]),
  fails("a reveal that is no signature", INVALID, (chain) => [chain.slot, SIGNATURE]),
  fails("too long a graffiti", INVALID, async (chain) => [chain.slot, await chain.randaoReveal(), "é".repeat(17)]),
];
const wrongAggregates: SpecialCall[] = [
  fails("an aggregator that does not exist", REJECTED, (chain) => aggregateWith(chain, { aggregator_index: "99" })),
  fails("a proof that is no signature", REJECTED, (chain) => aggregateWith(chain, { selection_proof: SIGNATURE })),
];
const syncSubscriptionWith = (
  what: string,
  changes: (chain: ExampleDevChain) => Record<string, unknown>,
): SpecialCall => {
  const valid = { validator_index: "1", sync_committee_indices: ["0"], until_epoch: "9" };
  return fails(what, INVALID, (chain) => [[{ ...valid, ...changes(chain) }]]);
};

/** Special calls of the validator client methods. */
export const VALIDATOR_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  get_v1_validator_duties_attester: attesterDuties,
  post_v1_validator_duties_attester: attesterDuties,
  get_v1_validator_duties_proposer: duties(),
  get_v2_validator_duties_proposer_epoch: duties(),
  get_v1_validator_block: wrongProductions,
  get_v3_validator_blocks_slot: wrongProductions,
  get_v1_validator_blinded_blocks_slot: wrongProductions,
  get_v1_validator_attestation_data: attestationData,
  get_v1_validator_attestation: attestationData,
  get_v1_validator_aggregate_attestation: unknownAggregate,
  get_v1_validator_aggregate_and_proof: [
    ...unknownAggregate,
    fails("data that nobody attested to", NOT_FOUND, async (chain) => [
      { ...(await chain.attestationData()), index: "3" },
    ]),
    fails("data of a committee that the slot does not have", NOT_FOUND, async (chain) => [
      await chain.attestationData(),
      LAST_UINT64,
    ]),
    fails("an object that is no attestation data", INVALID, () => [{ slot: "1" }]),
  ],
  get_v2_validator_aggregate_attestation: [
    fails("an unknown root", NOT_FOUND, (chain) => [chain.slot, ROOT, 0]),
    fails("a committee that the slot does not have", NOT_FOUND, async (chain) => [
      chain.slot,
      await chain.attestationDataRoot(),
      LAST_UINT64,
    ]),
  ],
  post_v1_validator_aggregate_and_proofs: wrongAggregates,
  post_v1_validator_aggregate_and_proof: wrongAggregates,
  post_v1_validator_beacon_committee_subscriptions: [
    subscriptionWith("a committee that no slot has", () => ({ committee_index: "64" })),
    subscriptionWith("a validator that does not exist", ({ validatorCount }) => ({
      validator_index: `${validatorCount}`,
    })),
    answers("a slot that has passed", true, (chain) => [{ ...chain.subscription(), slot: `${chain.slot - 2}` }]),
    subscriptionWith("a slot too far ahead", ({ slot }) => ({ slot: `${slot + 16}` })),
    fails("a slot signature of somebody else", INVALID, (chain) => [0, chain.slot, true, chain.pubkey(1), SIGNATURE]),
    fails("an unknown key", INVALID, (chain) => [0, chain.slot, true, PUBKEY, SIGNATURE]),
  ],
  post_v1_validator_duties_sync_epoch: [
    fails("an epoch too far ahead", INVALID, () => [16 * 8, ["0"]]),
    fails("no validators", INVALID, (chain) => [chain.epoch, []]),
    fails("one validator that is no list", INVALID, (chain) => [chain.epoch, "0"]),
    fails("an index that no registry has", INVALID, (chain) => [chain.epoch, [LAST_UINT64]]),
    { ...answers("unknown validators", [], (chain) => [chain.epoch, [PUBKEY, "99"]]), only: ForkName.fulu },
  ],
  get_v1_validator_sync_committee_contribution: [
    fails("an unknown block", NOT_FOUND, (chain) => [chain.slot, 0, ROOT], ForkName.fulu),
    fails("a subcommittee that does not exist", INVALID, (chain) => [chain.slot, 4, ROOT]),
  ],
  post_v1_validator_contribution_and_proofs: [
    nothing("no contributions"),
    fails(
      "an aggregator that does not exist",
      REJECTED,
      async (chain) => {
        const { message, signature } = (await chain.signedContribution()) as unknown as SignedJson;
        return [[{ message: { ...message, aggregator_index: "99" }, signature }]];
      },
      ForkName.fulu,
    ),
  ],
  post_v2_validator_aggregate_and_proofs: [
    nothing("no aggregates"),
    fails("an aggregator that does not exist", REJECTED, async (chain) => [
      await aggregateWith(chain, { aggregator_index: "99" }),
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
    nothing("no preparations"),
    answers("a validator that does not exist yet", true, () => [
      [{ validator_index: "99", fee_recipient: `0x${"ab".repeat(20)}` }],
    ]),
  ],
  post_v1_validator_register_validator: [
    nothing("no registrations"),
    fails("a fee recipient that the validator did not sign", REJECTED, (chain) => [
      [changedMessage(chain.registration(1), { fee_recipient: `0x${"ab".repeat(20)}` })],
    ]),
    answers("a key that nobody has", true, (chain) => [[changedMessage(chain.registration(1), { pubkey: PUBKEY })]]),
  ],
  post_v1_validator_sync_committee_subscriptions: [
    nothing("no subscriptions"),
    syncSubscriptionWith("a validator that does not exist", ({ validatorCount }) => ({
      validator_index: `${validatorCount}`,
    })),
    syncSubscriptionWith("a position that no committee has", () => ({ sync_committee_indices: ["32"] })),
    {
      ...answers("an epoch that has passed", true, (chain) => [
        [{ validator_index: "1", sync_committee_indices: ["0"], until_epoch: `${chain.epoch - 1}` }],
      ]),
      only: ForkName.fulu,
    },
  ],
  post_v1_validator_beacon_committee_selections: [fails("no selections", UNSUPPORTED, () => [[]])],
  post_v1_validator_sync_committee_selections: [fails("no selections", UNSUPPORTED, () => [[]])],
  post_v1_validator_duties_ptc_epoch: [
    ...duties(["0"]),
    fails("no validators", INVALID, (chain) => [chain.epoch, []]),
    { ...answers("unknown validators", [], (chain) => [chain.epoch, ["99"]]), only: ForkName.gloas },
  ],
  get_v4_validator_blocks_slot: wrongProductions,
  post_v4_validator_blocks_slot: [
    fails("a slot that has a block", INVALID, async (chain) => [chain.slot - 1, [], await chain.randaoReveal()]),
    fails("a reveal that is no signature", INVALID, (chain) => [chain.slot, [], SIGNATURE]),
    fails("builders that are no list", INVALID, async (chain) => [chain.slot, {}, await chain.randaoReveal()]),
    fails("too many builders", INVALID, async (chain) => [
      chain.slot,
      Array.from({ length: 65 }, () => ({})),
      await chain.randaoReveal(),
    ]),
  ],
  post_v1_validator_builder_preferences_pubkey: [
    fails("preferences that are no list", INVALID, () => [PUBKEY, {}]),
    fails("an entry that is malformed", REJECTED, () => [PUBKEY, [{}]]),
  ],
  get_v1_validator_payload_attestation_data: [
    fails("a slot that has not come", INVALID, (chain) => [chain.slot + 1]),
    fails("a slot of the past", INVALID, (chain) => [chain.slot - 2]),
    fails("the last of all slots", INVALID, () => [LAST_UINT64]),
  ],
  post_v1_validator_proposer_preferences: [
    nothing("no preferences"),
    fails("a validator that is not the proposer", REJECTED, async (chain) => [
      [changedMessage(await chain.proposerPreferences(), { validator_index: "99" })],
    ]),
    fails("a slot of the past", REJECTED, async (chain) => [
      [changedMessage(await chain.proposerPreferences(), { proposal_slot: "1" })],
    ]),
  ],
  get_v1_validator_execution_payload_bids_slot_builderIndex: [
    fails("a slot of the past", INVALID, (chain) => [chain.slot - 1, 0]),
    fails("a slot too far ahead", INVALID, (chain) => [chain.slot + 2, 0]),
    fails("a builder that does not exist", INVALID, (chain) => [chain.slot + 1, LAST_UINT64]),
  ],
  get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot: [
    { ...fails("an unknown block", NOT_FOUND, (chain) => [chain.slot, ROOT]), only: ForkName.gloas },
    fails("a slot before gloas", INVALID, () => ["1", ROOT], ForkName.fulu),
  ],
};
