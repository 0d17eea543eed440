import { defineEntry } from "./entry.ts";

export const networkEntries = [
  defineEntry({
    number: 50,
    name: "peers",
    summary: "The connected peers, with what they told about themselves and their scores.",
    invoke: ({ operations }) => operations.network.getPooledPeers(),
  }),
  defineEntry({
    number: 52,
    name: "getNetworkPeerId",
    summary: "The node's own peer id.",
    invoke: ({ operations }) => operations.network.getNetworkPeerId(),
  }),
  defineEntry({
    number: 53,
    name: "getNetworkPeers",
    summary: "The peer ids of the connected peers.",
    invoke: ({ operations }) => operations.network.getNetworkPeers(),
  }),
  defineEntry({
    number: 54,
    name: "getNetworkEnr",
    summary: "The node's own record (ENR) as text.",
    invoke: ({ operations }) => operations.network.getNetworkEnr(),
  }),
  defineEntry({
    number: 62,
    name: "debug_getGossipSubPeers",
    aliases: ["getGossipSubPeers"],
    summary: "The peers of each gossip topic, with their scores and statistics.",
    invoke: ({ operations }) => operations.network.getGossipSubPeers(),
  }),
];
