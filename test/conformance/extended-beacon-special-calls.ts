import { ForkName } from "@lodestar/params";
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

const onFulu = (calls: readonly SpecialCall[]): SpecialCall[] =>
  calls.map((call) => ({ ...call, only: ForkName.fulu }));

const unknownValidators = answers("unknown validators", [], (chain) => [
  "head",
  [PUBKEY, chain.validatorCount, LAST_UINT64],
]);
const gloas = (...params: unknown[]): SpecialCall[] => [fails("a fork that is not known", UNSUPPORTED, () => params)];
const unparsedBlock = fails("a tag of states only", INVALID, () => ["justified"]);

/** Of the methods about the beacon chain that the interface document does not number. */
export const EXTENDED_BEACON_SPECIAL_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  post_v1_beacon_states_stateId_validators: [
    ...absentState({}),
    answers("unknown validators", [], () => ["head", { ids: [PUBKEY, LAST_UINT64] }]),
    answers("a status that nobody has", [], () => ["head", { ids: null, statuses: ["withdrawal_done"] }]),
    fails("an unknown status", INVALID, () => ["head", { statuses: ["sleeping"] }]),
    fails("the same validator twice", INVALID, () => ["head", { ids: ["1", 1] }]),
    fails("ids that are no list", INVALID, () => ["head", { ids: 5 }]),
  ],
  post_v1_beacon_states_stateId_validator_balances: [...absentState(), unknownValidators],
  post_v1_beacon_states_stateId_validator_identities: [...absentState(), unknownValidators],
  get_v1_beacon_states_stateId_sync_committees: onFulu([
    ...absentState(),
    fails("an epoch too far ahead", INVALID, () => ["head", 16]),
    fails("the last of all epochs", INVALID, () => ["head", "2305843009213693951"]),
  ]),
  get_v1_beacon_states_stateId_randao: [
    ...absentState(),
    fails("an epoch that has not come", INVALID, (chain) => ["head", chain.epoch + 1]),
    fails("the last of all epochs", INVALID, () => ["head", "2305843009213693951"]),
    fails("an epoch whose slots are no uint64", INVALID, () => ["head", LAST_UINT64]),
  ],
  get_v1_beacon_states_stateId_pending_consolidations: onFulu(absentState()),
  get_v1_beacon_states_stateId_pending_deposits: onFulu(absentState()),
  get_v1_beacon_states_stateId_pending_partial_withdrawals: onFulu(absentState()),
  get_v1_beacon_states_stateId_proposer_lookahead: onFulu(absentState()),

  post_v2_beacon_blocks: [
    ...wrongBlocks,
    fails("a block of another fork than is said", INVALID, async (chain) => [await chain.signedBlock(), null, "deneb"]),
  ],
  post_v2_beacon_blinded_blocks: [
    fails(
      "a payload that is not known",
      UNSUPPORTED,
      async (chain) => {
        const { message, signature } = (await chain.blindedBlock()) as unknown as BlindedJson;
        const executionPayloadHeader = { ...message.body.execution_payload_header, block_hash: ROOT };
        const body = { ...message.body, execution_payload_header: executionPayloadHeader };
        return [{ message: { ...message, body }, signature }];
      },
      ForkName.fulu,
    ),
    fails("a block of another fork than is said", INVALID, async (chain) => [
      await chain.blindedBlock(),
      null,
      "deneb",
    ]),
  ],
  get_v1_beacon_blinded_blocks_blockId: absentBlock,
  get_v2_beacon_blocks_blockId_attestations: absentBlock,
  get_v1_beacon_blobs_blockId: onFulu([
    ...absentBlock,
    answers("a blob that the block does not have", [], () => ["head", [ROOT]]),
    fails("the same blob twice", INVALID, () => ["head", [ROOT, ROOT]]),
  ]),

  get_v1_beacon_rewards_blocks_blockId: [
    ...absentBlock,
    answers(
      "the genesis block, which earned nothing",
      {
        proposer_index: "0",
        total: "0",
        attestations: "0",
        sync_aggregate: "0",
        proposer_slashings: "0",
        attester_slashings: "0",
      },
      () => ["genesis"],
    ),
  ],
  post_v1_beacon_rewards_sync_committee_blockId: [
    ...absentBlock,
    answers("unknown validators", [], (chain) => [chain.slot - 1, [PUBKEY, LAST_UINT64]]),
  ],
  post_v1_beacon_rewards_attestations_epoch: [
    fails("an epoch after which the next is not over", NOT_FOUND, (chain) => [chain.epoch - 1]),
    fails("the last of all epochs", NOT_FOUND, () => ["2305843009213693951"]),
    fails("an epoch whose slots are no uint64", INVALID, () => [LAST_UINT64]),
  ],

  get_v2_beacon_pool_attestations: [
    answers("a slot that has not come", [], (chain) => [chain.slot + 1]),
    answers("the last of all slots", [], () => [LAST_UINT64]),
    answers("a committee that no slot has", [], () => [null, LAST_UINT64]),
  ],
  post_v2_beacon_pool_attestations: [
    fails("no attestations", INVALID, () => [[]]),
    fails("votes of another fork than is said", INVALID, async (chain) => [
      await chain.attestations(),
      chain.fork === ForkName.phase0 ? ForkName.electra : ForkName.deneb,
    ]),
    fails("a vote for an unknown block", REJECTED, async (chain) => {
      const [attestation] = (await chain.attestations()) as unknown as [{ data: object }];
      return [[{ ...attestation, data: { ...attestation.data, beacon_block_root: ROOT } }]];
    }),
  ],
  post_v2_beacon_pool_attester_slashings: [
    fails("one vote twice", REJECTED, (chain) => {
      const { attestation_1 } = chain.attesterSlashing(1);
      return [{ attestation_1, attestation_2: attestation_1 }];
    }),
    fails(
      "a slashing of a later fork than is said",
      INVALID,
      (chain) => [chain.attesterSlashing(1), ForkName.phase0],
      ForkName.fulu,
    ),
  ],
  post_v1_beacon_pool_bls_to_execution_changes: [
    fails("no changes", INVALID, () => [[]]),
    fails(
      "a validator that does not exist",
      REJECTED,
      (chain) => {
        const { message, signature } = chain.credentialsChange(13) as { message: object; signature: string };
        return [[{ message: { ...message, validator_index: "99" }, signature }]];
      },
      ForkName.fulu,
    ),
  ],
  get_v1_debug_beacon_data_column_sidecars_blockId: onFulu([
    ...absentBlock,
    answers("columns that nobody needs", [], () => ["head", [0, "127"]]),
  ]),

  post_v1_beacon_states_stateId_builders: gloas("head", null),
  post_v1_beacon_execution_payload_bids: [fails("an object that is no bid", INVALID, () => [{}])],
  post_v1_beacon_execution_payload_envelopes: [fails("an object that is no envelope", INVALID, () => [{}])],
  get_v1_beacon_execution_payload_envelopes_blockId: [...gloas(ROOT), unparsedBlock],
  get_v1_beacon_pool_payload_attestations: gloas(LAST_UINT64),
  post_v1_beacon_pool_payload_attestations: [fails("no messages", INVALID, () => [[]])],
};

interface BlindedJson {
  message: { body: { execution_payload_header: object } };
  signature: string;
}
