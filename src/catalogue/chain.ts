import { defineEntry, get, optional, post, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { root } from "./params/bytes.ts";
import { blockId, stateId, validatorId } from "./params/identifiers.ts";
import { epoch, slot, uint64 } from "./params/integers.ts";
import { signedBlock } from "./params/signed-block.ts";
import { validatorStatus } from "./params/validator-status.ts";

const STATE_ID = required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root.");
const BLOCK_ID = required(blockId, "Which block: head, genesis, finalized, a slot or a block root.");
const SIGNED_BLOCK = required(
  signedBlock,
  "A signed block of the fork of its slot; from Deneb to Fulu together with its blobs.",
);

/** The standard's own limit is one for URLs; this one keeps a call from costing more than an answer is worth. */
const MAX_VALIDATOR_IDS = 16_384;
const VALIDATOR_IDS = optional(
  arrayOf(validatorId, { noun: "validator ids", maxItems: MAX_VALIDATOR_IDS }),
  "Only these validators, each by index or public key; by default all.",
);

export const chainEntries = [
  defineEntry({
    number: 1,
    name: "get_v1_beacon_genesis",
    summary: "Time, validators root and fork version of the chain's genesis.",
    rest: get("/eth/v1/beacon/genesis"),
    invoke: ({ operations }) => operations.beacon.getGenesis(),
  }),
  defineEntry({
    number: 2,
    name: "get_v1_beacon_states_root",
    aliases: ["get_v1_beacon_states_stateId_root"],
    summary: "The hash tree root of a state.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/root"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getStateRoot({ stateId: state_id }),
  }),
  defineEntry({
    number: 3,
    name: "get_v1_beacon_states_fork",
    aliases: ["get_v1_beacon_states_stateId_fork"],
    summary: "The fork of a state.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/fork"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getStateFork({ stateId: state_id }),
  }),
  defineEntry({
    number: 4,
    name: "get_v1_beacon_states_finality_checkpoints",
    aliases: ["get_v1_beacon_states_stateId_finality_checkpoints"],
    summary: "The justified and finalized checkpoints that a state holds.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/finality_checkpoints"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getStateFinalityCheckpoints({ stateId: state_id }),
  }),
  defineEntry({
    number: 5,
    name: "get_v1_beacon_states_stateId_validators",
    summary: "Validators of a state with their balances and statuses, by ascending index.",
    params: {
      state_id: STATE_ID,
      id: VALIDATOR_IDS,
      status: optional(
        arrayOf(validatorStatus, { noun: "statuses" }),
        "Only validators with one of these statuses or of one of these groups; by default all.",
      ),
    },
    rest: get("/eth/v1/beacon/states/{state_id}/validators"),
    invoke: ({ operations }, { state_id, id, status }) =>
      operations.beacon.getStateValidators({ stateId: state_id, validatorIds: id, statuses: status }),
  }),
  defineEntry({
    number: 6,
    name: "get_v1_beacon_states_stateId_validators_validatorId",
    summary: "A validator of a state with its balance and status.",
    params: { state_id: STATE_ID, validator_id: required(validatorId, "Which validator: an index or a public key.") },
    rest: get("/eth/v1/beacon/states/{state_id}/validators/{validator_id}"),
    invoke: ({ operations }, { state_id, validator_id }) =>
      operations.beacon.getStateValidator({ stateId: state_id, validatorId: validator_id }),
  }),
  defineEntry({
    number: 7,
    name: "get_v1_beacon_states_stateId_validator_balances",
    summary: "Balances of the validators of a state, by ascending index.",
    params: { state_id: STATE_ID, id: VALIDATOR_IDS },
    rest: get("/eth/v1/beacon/states/{state_id}/validator_balances"),
    invoke: ({ operations }, { state_id, id }) =>
      operations.beacon.getStateValidatorBalances({ stateId: state_id, validatorIds: id }),
  }),
  defineEntry({
    number: 8,
    name: "get_v1_beacon_states_stateId_committees_epoch",
    aliases: ["get_v1_beacon_states_stateId_committees"],
    summary: "The committees of an epoch, by slot and index, with their validators in order.",
    params: {
      state_id: STATE_ID,
      epoch: optional(epoch, "By default the epoch of the state."),
      index: optional(uint64, "Only the committees with this index."),
      slot: optional(slot, "Only the committees of this slot, which must be in the epoch."),
    },
    rest: get("/eth/v1/beacon/states/{state_id}/committees"),
    invoke: ({ operations }, { state_id, epoch, index, slot }) =>
      operations.beacon.getEpochCommittees({ stateId: state_id, epoch, index, slot }),
  }),
  defineEntry({
    number: 9,
    name: "get_v1_beacon_headers",
    summary:
      "Headers of the known blocks of a slot or of the children of a block; by default those at the head's slot.",
    params: {
      slot: optional(slot, "Only blocks of this slot."),
      parent_root: optional(root, "Only blocks whose parent has this root."),
    },
    rest: get("/eth/v1/beacon/headers"),
    invoke: ({ operations }, { slot, parent_root }) =>
      operations.beacon.getBlockHeaders({ slot, parentRoot: parent_root }),
  }),
  defineEntry({
    number: 10,
    name: "get_v1_beacon_headers_blockId",
    summary: "The signed header of a block, its root, and whether it is canonical.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v1/beacon/headers/{block_id}"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockHeader({ blockId: block_id }),
  }),
  defineEntry({
    number: 11,
    name: "post_v1_beacon_blocks",
    summary: "Takes a signed block: 200 when it was broadcast and imported, 202 when it was only broadcast.",
    params: { signed_block: SIGNED_BLOCK },
    rest: post("/eth/v1/beacon/blocks"),
    submission: true,
    invoke: ({ operations }, { signed_block }) =>
      operations.beacon.publishBlockV2({ signedBlockContents: signed_block }),
  }),
  defineEntry({
    number: 12,
    name: "get_v1_beacon_blocks_blockId",
    aliases: ["get_v2_beacon_blocks_blockId"],
    summary: "A signed block in the form of its fork.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v2/beacon/blocks/{block_id}"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockV2({ blockId: block_id }),
  }),
  defineEntry({
    number: 13,
    name: "get_v1_beacon_blocks_blockId_root",
    summary: "The root of a block.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v1/beacon/blocks/{block_id}/root"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockRoot({ blockId: block_id }),
  }),
  defineEntry({
    number: 14,
    name: "get_v1_beacon_blocks_blockId_attestations",
    summary: "The attestations that a block includes, in its order.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v1/beacon/blocks/{block_id}/attestations"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockAttestations({ blockId: block_id }),
  }),
  defineEntry({
    number: 33,
    name: "post_v1_validator_block",
    summary: "Takes a signed block; true when it was broadcast and imported.",
    params: { signed_block: SIGNED_BLOCK },
    submission: true,
    invoke: ({ operations }, { signed_block }) =>
      operations.beacon.publishValidatorBlock({ signedBlockContents: signed_block }),
  }),
];
