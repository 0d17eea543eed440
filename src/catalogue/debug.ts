import { defineEntry, get, optional, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { blockId, stateId } from "./params/identifiers.ts";
import { uint64 } from "./params/integers.ts";

export const debugEntries = [
  defineEntry({
    number: 45,
    name: "get_v1_debug_beacon_states_stateId",
    aliases: ["get_v2_debug_beacon_states_stateId"],
    summary: "A whole state in the form of its fork.",
    params: {
      state_id: required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root."),
    },
    rest: get("/eth/v2/debug/beacon/states/{state_id}"),
    invoke: ({ operations }, { state_id }) => operations.debug.getStateV2({ stateId: state_id }),
  }),
  defineEntry({
    number: 46,
    name: "get_v2_debug_beacon_heads",
    summary: "Every leaf of the fork-choice tree, with its payload's status.",
    rest: get("/eth/v2/debug/beacon/heads"),
    invoke: ({ operations }) => operations.debug.getDebugChainHeadsV2(),
  }),
  defineEntry({
    number: null,
    name: "get_v1_debug_beacon_heads",
    summary: "Every leaf of the fork-choice tree.",
    rest: get("/eth/v1/debug/beacon/heads"),
    invoke: ({ operations }) => operations.debug.getDebugChainHeads(),
  }),
  defineEntry({
    number: null,
    name: "get_v1_debug_fork_choice",
    summary: "The checkpoints of fork choice and every block that it considers, with the weight behind it in Gwei.",
    rest: get("/eth/v1/debug/fork_choice"),
    invoke: ({ operations }) => operations.debug.getDebugForkChoice(),
  }),
  defineEntry({
    number: null,
    name: "get_v1_debug_beacon_data_column_sidecars_blockId",
    summary:
      "The data columns of a block, from fulu on. The node keeps none, so it answers only for blocks without any.",
    params: {
      block_id: required(blockId, "Which block: head, genesis, finalized, a slot or a block root."),
      indices: optional(arrayOf(uint64, { noun: "column indices" }), "Only these columns; by default all."),
    },
    rest: get("/eth/v1/debug/beacon/data_column_sidecars/{block_id}"),
    invoke: ({ operations }, { block_id, indices }) =>
      operations.debug.getDebugDataColumnSidecars({ blockId: block_id, indices }),
  }),
];
