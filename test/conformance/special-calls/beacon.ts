import { ForkName } from "@lodestar/params";
import type { ExampleDevChain } from "../../support/api/example-chain.ts";
import {
  absent,
  absentBlock,
  absentBlockWith,
  absentState,
  answers,
  fails,
  INVALID,
  LAST_EPOCH,
  LAST_UINT64,
  NOT_FOUND,
  PUBKEY,
  REJECTED,
  ROOT,
  type SignedJson,
  type SpecialCall,
  UNSUPPORTED,
} from "./special-call.ts";

const blockWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  const block = await chain.signedBlock();
  const change = (signed: SignedJson) => ({ ...signed, message: { ...signed.message, ...changes } });
  if (!("signed_block" in block)) return [change(block as unknown as SignedJson)];
  return [{ ...block, signed_block: change(block.signed_block as SignedJson) }];
};
/** Well-formed blocks of the current slot that every node rejects. */
const wrongBlocks: SpecialCall[] = [
  fails("an unknown parent", REJECTED, (chain) => blockWith(chain, { parent_root: ROOT })),
  fails("a proposer that does not exist", REJECTED, (chain) => blockWith(chain, { proposer_index: "99" })),
  fails("a slot that has not come", REJECTED, (chain) => blockWith(chain, { slot: String(chain.slot + 9) })),
  fails("a slot of the finalized past", REJECTED, (chain) => blockWith(chain, { slot: "1" })),
  fails("the last of all slots", REJECTED, (chain) => blockWith(chain, { slot: LAST_UINT64 })),
];

const changed = ({ message, signature }: SignedJson, changes: Record<string, unknown>) => [
  { message: { ...message, ...changes }, signature },
];
const changedEnvelope = async (chain: ExampleDevChain, changes: Record<string, unknown>) =>
  changed((await chain.signedEnvelope()) as unknown as SignedJson, changes);
const changedBid = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  await chain.signedEnvelope();
  await chain.caller
    .call("post_v1_validator_proposer_preferences", [[await chain.proposerPreferences()]])
    .catch(() => {});
  return changed((await chain.signedBid()) as unknown as SignedJson, changes);
};

/** Invalid proof paths; `id` is of an existing state or block. */
const wrongPaths = (id: string): SpecialCall[] => [
  fails("an unknown field", INVALID, () => [id, ["slots"]]),
  fails("a field of a number", INVALID, () => [id, ["slot", "epoch"]]),
  fails("the first generalized index that is none", INVALID, () => [id, 0]),
  fails("a generalized index below a leaf", INVALID, () => [id, `${2n ** 255n}`]),
  fails("a part and what it is a part of", INVALID, () => [id, [["slot"], 1]]),
  fails("too many paths", INVALID, () => [id, Array.from({ length: 129 }, () => ["slot"])]),
];

const unknownValidators = answers("unknown validators", [], (chain) => [
  "head",
  [PUBKEY, chain.validatorCount, LAST_UINT64],
]);
const bareValidator = fails("one validator that is no list", INVALID, () => ["head", "1"]);

/** Special calls of the methods about states, blocks, rewards and light clients. */
export const BEACON_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
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
    answers("a later child of nothing", [], () => [1, `0x${"00".repeat(32)}`]),
  ],
  get_v1_beacon_headers_blockId: absentBlock,
  get_v1_beacon_blocks_blockId: absentBlock,
  get_v1_beacon_blocks_blockId_root: absentBlock,
  get_v1_beacon_blocks_blockId_attestations: absentBlock,
  get_v1_debug_beacon_states_stateId: absentState(),
  post_v1_beacon_blocks: wrongBlocks,
  post_v1_validator_block: wrongBlocks,
  post_v1_beacon_states_stateId_validators: [
    ...absentState({}),
    answers("unknown validators", [], () => ["head", { ids: [PUBKEY, LAST_UINT64] }]),
    answers("a status that nobody has", [], () => ["head", { ids: null, statuses: ["withdrawal_done"] }]),
    fails("an unknown status", INVALID, () => ["head", { statuses: ["sleeping"] }]),
    fails("the same validator twice", INVALID, () => ["head", { ids: ["1", 1] }]),
    fails("ids that are no list", INVALID, () => ["head", { ids: 5 }]),
    fails("one id that is no list", INVALID, () => ["head", { ids: "1" }]),
    fails("one status that is no list", INVALID, () => ["head", { statuses: "active" }]),
  ],
  post_v1_beacon_states_stateId_validator_balances: [...absentState(), unknownValidators, bareValidator],
  post_v1_beacon_states_stateId_validator_identities: [...absentState(), unknownValidators, bareValidator],
  get_v1_beacon_states_stateId_sync_committees: [
    ...absentState(),
    fails("an epoch too far ahead", INVALID, () => ["head", 16]),
    fails("the last of all epochs", INVALID, () => ["head", LAST_EPOCH]),
  ],
  get_v1_beacon_states_stateId_randao: [
    ...absentState(),
    fails("an epoch that has not come", INVALID, (chain) => ["head", chain.epoch + 1]),
    fails("the last of all epochs", INVALID, () => ["head", LAST_EPOCH]),
    fails("an epoch whose slots are no uint64", INVALID, () => ["head", LAST_UINT64]),
  ],
  get_v1_beacon_states_stateId_pending_consolidations: absentState(),
  get_v1_beacon_states_stateId_pending_deposits: absentState(),
  get_v1_beacon_states_stateId_pending_partial_withdrawals: absentState(),
  get_v1_beacon_states_stateId_proposer_lookahead: absentState(),
  get_v1_builder_states_stateId_expected_withdrawals: [
    ...absentState(),
    fails("the state's own slot", INVALID, (chain) => ["head", chain.chain.head.slot]),
    fails("a slot too far ahead", INVALID, (chain) => ["head", chain.chain.head.slot + 2 * 8 + 1]),
    fails("the last of all slots", INVALID, () => ["head", LAST_UINT64]),
  ],
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
  get_v1_beacon_blobs_blockId: [
    ...absentBlock,
    answers("a blob that the block does not have", [], () => ["head", [ROOT]]),
    fails("the same blob twice", INVALID, () => ["head", [ROOT, ROOT]]),
  ],
  get_v1_beacon_blob_sidecars_blockId: [
    ...absentBlock,
    answers("a blob that the block does not have", [], () => ["head", ["0", LAST_UINT64]]),
    fails("the same blob twice", INVALID, () => ["head", ["0", 0]]),
  ],
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
    fails("the last of all epochs", NOT_FOUND, () => [LAST_EPOCH]),
    fails("an epoch whose slots are no uint64", INVALID, () => [LAST_UINT64]),
  ],
  get_v1_debug_beacon_data_column_sidecars_blockId: [
    ...absentBlock,
    answers("columns that nobody needs", [], () => ["head", [0, "127"]]),
    fails("a column that no block has", INVALID, () => ["head", [0, 128]]),
  ],
  post_v1_beacon_states_stateId_builders: absentState(),
  post_v1_beacon_execution_payload_bids: [
    fails("an object that is no bid", INVALID, () => [{}]),
    fails("a builder that does not exist", REJECTED, (chain) => changedBid(chain, { builder_index: "99" })),
    fails("a slot of the past", REJECTED, (chain) => changedBid(chain, { slot: "1" })),
    fails("the last of all slots", REJECTED, (chain) => changedBid(chain, { slot: LAST_UINT64 })),
  ],
  post_v1_beacon_execution_payload_envelopes: [
    fails("an object that is no envelope", INVALID, () => [{}]),
    fails("an unknown block", REJECTED, (chain) => changedEnvelope(chain, { beacon_block_root: ROOT })),
    fails("another builder", REJECTED, (chain) => changedEnvelope(chain, { builder_index: "99" })),
  ],
  get_v1_beacon_execution_payload_envelopes_blockId: [
    ...absent(),
    fails("a tag of states only", INVALID, () => ["justified"]),
  ],
  getStateProof: [
    ...absentState(["slot"]),
    ...wrongPaths("head"),
    fails("the validator after the last", INVALID, (chain) => ["head", ["validators", chain.validatorCount]]),
    fails("the last of all indices", INVALID, () => ["head", ["balances", LAST_UINT64]]),
    fails("a field of a later fork", INVALID, () => ["head", ["proposer_lookahead"]], ForkName.phase0),
    fails("the block of an empty slot", INVALID, (chain) => [chain.slot, ["slot"], "block"]),
  ],
  getBlockProof: [
    ...absentBlockWith(["slot"]),
    ...wrongPaths("head"),
    fails("an attestation that the block does not have", INVALID, () => ["head", ["body", "attestations", 999]]),
    fails("a field of a later fork", INVALID, () => ["head", ["body", "execution_payload"]], ForkName.phase0),
  ],
  get_v1_beacon_light_client_bootstrap_blockRoot: [
    fails("an unknown block", NOT_FOUND, () => [ROOT]),
    fails("the root of a state", NOT_FOUND, async (chain) => [
      (await chain.caller.call("get_v1_beacon_states_root", ["head"])).root,
    ]),
  ],
  get_v1_beacon_light_client_updates: [
    answers("no periods", [], () => [0, 0]),
    { ...answers("a period that has not come", [], () => [1, 5]), only: ForkName.fulu },
    { ...answers("the last of all periods", [], () => [LAST_UINT64, LAST_UINT64]), only: ForkName.fulu },
  ],
};

interface BlindedJson {
  message: { body: { execution_payload_header: object } };
  signature: string;
}
