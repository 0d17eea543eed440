import { defineEntry, get, optional } from "./entry.ts";
import { statusCode } from "./params/integers.ts";

export const nodeEntries = [
  defineEntry({
    number: 25,
    name: "get_v1_node_peer_count",
    summary: "How many peers are in each state of connection.",
    rest: get("/eth/v1/node/peer_count"),
    invoke: ({ operations }) => operations.node.getPeerCount(),
  }),
  defineEntry({
    number: 26,
    name: "get_v1_node_version",
    summary: "The node's name, version and platform.",
    rest: get("/eth/v1/node/version"),
    invoke: ({ operations }) => operations.node.getNodeVersion(),
  }),
  defineEntry({
    number: 27,
    name: "get_v1_node_syncing",
    summary: "Whether the node is syncing, and how far its head is behind.",
    rest: get("/eth/v1/node/syncing"),
    invoke: ({ operations }) => operations.node.getSyncingStatus(),
  }),
  defineEntry({
    number: 28,
    name: "get_v1_node_health",
    summary: "The node's health as an HTTP status: 200 when it is ready, 206 when it is syncing.",
    params: { syncing_status: optional(statusCode, "The status to answer instead of 206 while syncing.") },
    rest: get("/eth/v1/node/health"),
    invoke: ({ operations }, { syncing_status }) => operations.node.getHealth({ syncingStatus: syncing_status }),
  }),
];
