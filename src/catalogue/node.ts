import { defineEntry, get, optional, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { statusCode } from "./params/integers.ts";
import { text } from "./params/text.ts";
import { word } from "./params/word.ts";

const peerState = word(["disconnected", "connecting", "connected", "disconnecting"]);
const peerDirection = word(["inbound", "outbound"]);

export const nodeEntries = [
  defineEntry({
    number: 22,
    name: "get_v1_node_identity",
    summary: "Who the node is on the network: its id, its record, its addresses and its metadata.",
    rest: get("/eth/v1/node/identity"),
    invoke: ({ operations }) => operations.node.getNetworkIdentity(),
  }),
  defineEntry({
    number: 23,
    name: "get_v1_node_peers",
    summary: "The known peers, all or those in certain states of connection.",
    params: {
      state: optional(arrayOf(peerState, { noun: "connection states" }), "Only peers in one of these states."),
      direction: optional(arrayOf(peerDirection, { noun: "directions" }), "Only peers that were connected this way."),
    },
    rest: get("/eth/v1/node/peers"),
    invoke: ({ operations }, args) => operations.node.getPeers(args),
  }),
  defineEntry({
    number: 24,
    name: "get_v1_node_peers_peerId",
    summary: "One known peer.",
    params: { peer_id: required(text("a libp2p peer id"), "The peer's id, in base58btc or as a CIDv1 in base32.") },
    rest: get("/eth/v1/node/peers/{peer_id}"),
    invoke: ({ operations }, { peer_id }) => operations.node.getPeer({ peerId: peer_id }),
  }),
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
  defineEntry({
    number: null,
    name: "get_v2_node_version",
    summary: "Which client the node is, in the form in which execution clients tell it.",
    rest: get("/eth/v2/node/version"),
    invoke: ({ operations }) => operations.node.getNodeVersionV2(),
  }),
];
