import { defineEntry, get, required } from "./entry.ts";
import { stateId } from "./params/identifiers.ts";

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
];
