import { defineEntry, get } from "./entry.ts";

export const debugEntries = [
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
