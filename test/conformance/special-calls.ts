import { ForkName } from "@lodestar/params";
import type { ExampleDevChain } from "../support/example-chain.ts";
import { EXTENDED_BEACON_SPECIAL_CALLS } from "./extended-beacon-special-calls.ts";
import { EXTENDED_VALIDATOR_SPECIAL_CALLS } from "./extended-validator-special-calls.ts";
import {
  absentBlock,
  absentState,
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
import { wrongBlocks } from "./wrong-blocks.ts";

const SIGNATURE = `0x${"33".repeat(96)}`;
/** Well-formed, and nobody's. */
const PEER_ID = "QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt";

const duties = (...others: unknown[]): SpecialCall[] => [
  fails("an epoch too far ahead", INVALID, (chain) => [chain.epoch + 2, ...others]),
  fails("an epoch whose slots are no uint64", INVALID, () => [LAST_UINT64, ...others]),
  fails("the last of all epochs", INVALID, () => ["2305843009213693951", ...others]),
];
const attesterDuties: SpecialCall[] = [
  ...duties(["0"]),
  fails("no validators", INVALID, (chain) => [chain.epoch, []]),
  answers("unknown validators", [], (chain) => [chain.epoch, [PUBKEY, chain.validatorCount, LAST_UINT64]]),
];

const attestationData: SpecialCall[] = [
  fails("a slot too far ahead", INVALID, (chain) => [chain.slot + 2, 0]),
  fails("the last of all slots", INVALID, () => [LAST_UINT64, 0]),
  fails("a committee that the slot does not have", INVALID, (chain) => [chain.slot, 1], ForkName.phase0),
  fails("no committee", INVALID, (chain) => [chain.slot], ForkName.phase0),
];
const unknownAggregate: SpecialCall[] = [
  fails("an unknown root", NOT_FOUND, (chain) => [chain.slot, ROOT], ForkName.phase0),
  fails(
    "another slot than the data's",
    NOT_FOUND,
    async (chain) => [chain.slot - 1, await chain.attestationDataRoot()],
    ForkName.phase0,
  ),
];

interface AttestationJson {
  data: { slot: string; beacon_block_root: string };
}
interface SignedJson {
  message: Record<string, unknown>;
  signature: string;
}

const attestationWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  const [attestation] = (await chain.attestations()) as unknown as [AttestationJson];
  return [{ ...attestation, data: { ...attestation.data, ...changes } }];
};
const aggregateWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  const aggregate = (await chain.signedAggregate()) as unknown as SignedJson;
  return [{ ...aggregate, message: { ...aggregate.message, ...changes } }];
};
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

/** Of every method that takes parameters. */
export const SPECIAL_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  get_v1_beacon_states_root: absentState(),
  get_v1_beacon_states_fork: absentState(),
  get_v1_beacon_states_finality_checkpoints: absentState(),
  get_v1_beacon_states_stateId_validators: [
    ...absentState(),
    answers("unknown validators", [], (chain) => ["head", [PUBKEY, chain.validatorCount, LAST_UINT64]]),
    fails("the same validator twice", INVALID, () => ["head", ["1", 1]]),
    fails("too many validators", INVALID, () => ["head", Array.from({ length: 16_385 }, (_, index) => index)]),
    fails("an unknown status", INVALID, () => ["head", null, ["sleeping"]]),
  ],
  get_v1_beacon_states_stateId_validators_validatorId: [
    ...absentState("0"),
    fails("the index after the last", NOT_FOUND, (chain) => ["head", chain.validatorCount]),
    fails("the last of all indices", NOT_FOUND, () => ["head", LAST_UINT64]),
    fails("an unknown key", NOT_FOUND, () => ["head", PUBKEY]),
  ],
  get_v1_beacon_states_stateId_validator_balances: [
    ...absentState(),
    answers("unknown validators", [], (chain) => ["head", [PUBKEY, chain.validatorCount, LAST_UINT64]]),
    fails("too many validators", INVALID, () => ["head", Array.from({ length: 16_385 }, (_, index) => index)]),
  ],
  get_v1_beacon_states_stateId_committees_epoch: [
    ...absentState(),
    fails("an epoch too far ahead", INVALID, (chain) => ["head", chain.epoch + 2]),
    fails("an epoch whose slots are no uint64", INVALID, () => ["head", LAST_UINT64]),
    fails("a slot of another epoch", INVALID, () => ["head", null, null, 1]),
    fails("an index that no slot has", INVALID, () => ["head", null, 64]),
    answers("an index that the epoch does not have", [], () => ["head", null, 3]),
  ],
  get_v1_beacon_headers: [
    answers("a slot that has not come", [], (chain) => [chain.slot + 1]),
    answers("the last of all slots", [], () => [LAST_UINT64]),
    answers("an unknown parent", [], () => [null, ROOT]),
    answers("the children of the head", [], (chain) => [null, chain.chain.head.root]),
  ],
  get_v1_beacon_headers_blockId: absentBlock,
  get_v1_beacon_blocks_blockId: absentBlock,
  get_v1_beacon_blocks_blockId_root: absentBlock,
  get_v1_beacon_blocks_blockId_attestations: absentBlock,
  get_v1_debug_beacon_states_stateId: absentState(),
  post_v1_beacon_blocks: wrongBlocks,
  post_v1_validator_block: wrongBlocks,
  post_v1_beacon_pool_attestations: [
    fails("an unknown block", REJECTED, (chain) => attestationWith(chain, { beacon_block_root: ROOT })),
    fails("a slot that has not come", REJECTED, (chain) => attestationWith(chain, { slot: String(chain.slot + 9) })),
    fails("no attestations", INVALID, () => [[]]),
  ],
  get_v1_beacon_pool_attestations: [
    answers("a slot that has not come", [], (chain) => [chain.slot + 1]),
    answers("a committee that no slot has", [], () => [null, LAST_UINT64]),
  ],
  post_v1_beacon_pool_attester_slashings: [
    fails("attestations that agree", REJECTED, (chain) => {
      const { attestation_1 } = chain.attesterSlashing(1, 2) as { attestation_1: unknown };
      return [{ attestation_1, attestation_2: attestation_1 }];
    }),
    fails("validators that do not exist", REJECTED, (chain) => {
      const slashing = chain.attesterSlashing(1, 2) as Record<string, Record<string, unknown>>;
      const of = (name: string) => ({ ...slashing[name], attesting_indices: ["98", "99"] });
      return [{ attestation_1: of("attestation_1"), attestation_2: of("attestation_2") }];
    }),
  ],
  post_v1_beacon_pool_proposer_slashings: [
    fails("one header twice", REJECTED, (chain) => {
      const { signed_header_1 } = chain.proposerSlashing(1) as { signed_header_1: unknown };
      return [{ signed_header_1, signed_header_2: signed_header_1 }];
    }),
    fails("a proposer that does not exist", REJECTED, (chain) => {
      const slashing = chain.proposerSlashing(1) as Record<string, SignedJson>;
      const of = ({ message, signature }: SignedJson) => ({ message: { ...message, proposer_index: "99" }, signature });
      return [{ signed_header_1: of(slashing.signed_header_1!), signed_header_2: of(slashing.signed_header_2!) }];
    }),
  ],
  post_v1_beacon_pool_voluntary_exits: [
    fails("a validator that does not exist", REJECTED, (chain) => {
      const { signature } = chain.voluntaryExit(1);
      return [{ message: { epoch: "4", validator_index: "99" }, signature }];
    }),
    fails("an epoch that has not come", REJECTED, (chain) => {
      const { signature } = chain.voluntaryExit(1);
      return [{ message: { epoch: String(chain.epoch + 1), validator_index: "1" }, signature }];
    }),
  ],
  get_v1_node_peers: [
    fails("an unknown state", INVALID, () => [["asleep"]]),
    fails("an unknown direction", INVALID, () => [null, ["sideways"]]),
    answers("a state that no peer is in", [], () => [["connecting"]]),
  ],
  get_v1_node_peers_peerId: [
    fails("an unknown peer", NOT_FOUND, () => [PEER_ID]),
    fails("text that is no peer id", INVALID, () => ["somebody"]),
    fails("no text", INVALID, () => [""]),
  ],
  get_v1_node_health: [
    fails("a status below 100", INVALID, () => [99]),
    fails("a status above 599", INVALID, () => [600]),
  ],
  get_v1_validator_duties_attester: attesterDuties,
  post_v1_validator_duties_attester: attesterDuties,
  get_v1_validator_duties_proposer: duties(),
  get_v2_validator_duties_proposer_epoch: duties(),
  get_v1_validator_block: wrongProductions,
  get_v3_validator_blocks_slot: wrongProductions,
  get_v1_validator_attestation_data: attestationData,
  get_v1_validator_attestation: attestationData,
  get_v1_validator_aggregate_attestation: unknownAggregate,
  get_v1_validator_aggregate_and_proof: [
    ...unknownAggregate,
    fails(
      "data that nobody attested to",
      NOT_FOUND,
      async (chain) => [{ ...(await chain.attestationData()), index: "3" }],
      ForkName.phase0,
    ),
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
  ...EXTENDED_VALIDATOR_SPECIAL_CALLS,
  post_v1_validator_beacon_committee_subscriptions: [
    subscriptionWith("a committee that no slot has", () => ({ committee_index: "64" })),
    subscriptionWith("a validator that does not exist", ({ validatorCount }) => ({
      validator_index: `${validatorCount}`,
    })),
    subscriptionWith("a slot that has passed", ({ slot }) => ({ slot: `${slot - 2}` })),
    subscriptionWith("a slot too far ahead", ({ slot }) => ({ slot: `${slot + 16}` })),
    fails("a slot signature of somebody else", INVALID, (chain) => [0, chain.slot, true, chain.pubkey(1), SIGNATURE]),
    fails("an unknown key", INVALID, (chain) => [0, chain.slot, true, PUBKEY, SIGNATURE]),
  ],
  post_v1_validator_duties_sync_epoch: [
    fails("an epoch too far ahead", INVALID, () => [16 * 8, ["0"]], ForkName.fulu),
    fails("no validators", INVALID, (chain) => [chain.epoch, []]),
    { ...answers("unknown validators", [], (chain) => [chain.epoch, [PUBKEY, "99"]]), only: ForkName.fulu },
  ],
  post_v1_beacon_pool_sync_committees: [
    fails("no messages", INVALID, () => [[]]),
    fails(
      "a validator that does not exist",
      REJECTED,
      async (chain) => {
        const [message] = await chain.syncCommitteeMessages();
        return [[{ ...message, validator_index: "99" }]];
      },
      ForkName.fulu,
    ),
  ],
  get_v1_validator_sync_committee_contribution: [
    fails("an unknown block", NOT_FOUND, (chain) => [chain.slot, 0, ROOT], ForkName.fulu),
    fails("a subcommittee that does not exist", INVALID, (chain) => [chain.slot, 4, ROOT], ForkName.fulu),
  ],
  post_v1_validator_contribution_and_proofs: [
    fails("no contributions", INVALID, () => [[]]),
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
  ...EXTENDED_BEACON_SPECIAL_CALLS,
  getBeaconBlock: [
    answers("a slot without a block", null, (chain) => [chain.slot]),
    answers("an unknown root", null, () => [null, ROOT]),
    answers("an unknown root in the first place", null, () => [ROOT]),
    answers("the last of all slots", null, () => [LAST_UINT64]),
    fails("neither slot nor root", INVALID, () => [null, null]),
    fails("slot and root", INVALID, () => [1, ROOT]),
  ],
  getBeaconState: [
    answers("a slot that has not come", null, (chain) => [chain.slot + 1]),
    answers("an unknown root", null, () => [null, ROOT]),
    answers("the last of all slots", null, () => [LAST_UINT64]),
    fails("neither slot nor root", INVALID, () => []),
    fails("slot and root", INVALID, () => [1, ROOT]),
  ],
  setLogLevel: [
    fails("an unknown level", INVALID, () => ["LOUD"]),
    fails("a part without topics", INVALID, () => ["INFO; TRACE"]),
    fails("an unknown key", INVALID, () => ["INFO; SOMETIMES:chain"]),
  ],
  setGraffiti: [
    fails("more than 32 bytes", INVALID, () => ["é".repeat(17)]),
    fails("half a byte", INVALID, () => ["0xabc"]),
    fails("what is no hex after 0x", INVALID, () => ["0xzz"]),
  ],
  subscribe: [
    fails("no topics", INVALID, () => [[]]),
    fails("an unknown topic", INVALID, () => [["head", "weather"]]),
    fails("the same topic twice", INVALID, () => [["head", "head"]]),
  ],
  unsubscribe: [fails("an id where nobody can have one", UNSUPPORTED, () => ["0x1234"])],
};
