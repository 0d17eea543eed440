import { defineEntry, get, optional, required } from "./entry.ts";
import { root } from "./params/bytes.ts";
import { blockId, stateId } from "./params/identifiers.ts";
import { slot } from "./params/integers.ts";

const STATE_ID = required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root.");
const BLOCK_ID = required(blockId, "Which block: head, genesis, finalized, a slot or a block root.");

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
];
