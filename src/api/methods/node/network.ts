import type { routes } from "@lodestar/api";
import { ForkSeq } from "@lodestar/params";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import type { NetworkView, Peer, PeerDirection, PeerState } from "../../../network/network-view.ts";
import { parsePeerId } from "../../../network/peer-id.ts";
import { defineMethod, defineOperation, get, optional, required } from "../../definition.ts";
import { stringEnum, text as textParam, uniqueArrayOf } from "../../params/scalars.ts";
import { boolean, dictionary, list, number, object, shape, text } from "../../schemas.ts";

const getNetworkIdentity = defineOperation("node.getNetworkIdentity", {
  number: 22,
  name: "get_v1_node_identity",
  summary: "Network identity of the node: peer id, ENR, addresses and metadata.",
  result: {
    name: "identity",
    schema: object({
      peer_id: text,
      enr: text,
      p2p_addresses: list(text),
      discovery_addresses: list(text),
      metadata: object(
        { seq_number: shape("Uint64"), attnets: shape("Bits"), syncnets: shape("Bits") },
        { custody_group_count: shape("Uint64") },
      ),
    }),
  },
  failures: [],
  rest: [get("/eth/v1/node/identity")],
  cost: "cheap",
  access: "read",
  example: {},
  async handler({ chain, network }) {
    const { metadata, ...identity } = await network.identity();
    const { custodyGroupCount, ...common } = metadata;
    const hasCustody = chain.config.getForkSeq(chain.clock.currentSlot) >= ForkSeq.fulu;
    return { data: { ...identity, metadata: hasCustody ? { ...common, custodyGroupCount } : common } };
  },
});

const peerState = stringEnum(["disconnected", "connecting", "connected", "disconnecting"]);
const peerDirection = stringEnum(["inbound", "outbound"]);

const getPeers = defineOperation("node.getPeers", {
  number: 23,
  name: "get_v1_node_peers",
  summary: "Known peers, optionally filtered by connection state and direction.",
  params: {
    state: optional(uniqueArrayOf(peerState, { noun: "connection states" }), "Connection states of the peers."),
    direction: optional(uniqueArrayOf(peerDirection, { noun: "directions" }), "Connection directions of the peers."),
  },
  result: { name: "peers", schema: list(shape("Peer")) },
  failures: [],
  rest: [get("/eth/v1/node/peers")],
  cost: "cheap",
  access: "read",
  example: {
    params: [
      ["connected", "disconnected"],
      ["inbound", "outbound"],
    ],
  },
  async handler({ network }, { state, direction }) {
    const peers = network.peers().filter((peer) => matches(state, peer.state) && matches(direction, peer.direction));
    return { data: peers.map(nodePeer), meta: { count: peers.length } };
  },
});

/** Returns true if the filter contains the value or is empty. */
function matches<Value extends PeerState | PeerDirection>(filter: Value[] | undefined, value: Value | null): boolean {
  return filter === undefined || filter.length === 0 || (value !== null && filter.includes(value));
}

const getPeer = defineOperation("node.getPeer", {
  number: 24,
  name: "get_v1_node_peers_peerId",
  summary: "A known peer.",
  params: { peerId: required(textParam("a libp2p peer id"), "Peer id in base58btc, or as a CIDv1 in base32.") },
  result: { name: "peer", schema: shape("Peer") },
  failures: ["not-found"],
  rest: [get("/eth/v1/node/peers/{peer_id}"), get("/eth/v1/node/peer/{peer_id}")],
  cost: "cheap",
  access: "read",
  example: { params: (chain) => [chain.peerId] },
  async handler({ network }, { peerId }) {
    const parsedId = await parsePeerId(peerId);
    if (parsedId === undefined) {
      throw invalidParams('The parameter "peer_id" must be a libp2p peer id, in base58btc or as a CIDv1 in base32.');
    }
    const peer = network.peer(parsedId);
    if (!peer) throw notFound(`Unknown peer ${parsedId}.`);
    return { data: nodePeer(peer) };
  },
});

function nodePeer({ peerId, enr, lastSeenP2pAddress, state, direction }: Peer): routes.node.NodePeer {
  return { peerId, enr, lastSeenP2pAddress, state, direction };
}

const getPeerCount = defineOperation("node.getPeerCount", {
  number: 25,
  name: "get_v1_node_peer_count",
  summary: "Number of peers by connection state.",
  result: {
    name: "peer_count",
    schema: object({
      disconnected: shape("Uint64"),
      connecting: shape("Uint64"),
      connected: shape("Uint64"),
      disconnecting: shape("Uint64"),
    }),
  },
  failures: [],
  rest: [get("/eth/v1/node/peer_count")],
  cost: "cheap",
  access: "read",
  example: {},
  handler: async ({ network }) => ({ data: network.peerCounts() }),
});

const getConnectedPeers = defineMethod({
  number: 50,
  name: "peers",
  summary: "Connected peers with their identify data and scores.",
  result: {
    name: "peers",
    schema: object({
      peers: list(
        object({
          id: text,
          info: object({
            peerId: text,
            addrs: list(text),
            protocols: list(text),
            protoVersion: text,
            agentVersion: text,
          }),
          connectionState: text,
          score: number,
        }),
      ),
    }),
  },
  failures: [],
  rest: [get("/fanal/v1/network/peers"), get("/nimbus/v1/network/peers")],
  cost: "cheap",
  access: "read",
  example: {},
  handler: ({ network }) => ({ peers: connectedPeers(network).map(describePeer) }),
});

function describePeer({ peerId, addresses, protocols, protocolVersion, agentVersion, state, score }: Peer) {
  return {
    id: peerId,
    info: { peerId, addrs: addresses, protocols, protoVersion: protocolVersion, agentVersion },
    connectionState: `${state.charAt(0).toUpperCase()}${state.slice(1)}`,
    score,
  };
}

const getNetworkPeerId = defineMethod({
  number: 52,
  name: "getNetworkPeerId",
  summary: "The node's own peer id.",
  result: { name: "peer_id", schema: text },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
  handler: async ({ network }) => (await network.identity()).peerId,
});

const getNetworkPeers = defineMethod({
  number: 53,
  name: "getNetworkPeers",
  summary: "The peer ids of the connected peers.",
  result: { name: "peer_ids", schema: list(text) },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
  handler: ({ network }) => connectedPeers(network).map(({ peerId }) => peerId),
});

const getNetworkEnr = defineMethod({
  number: 54,
  name: "getNetworkEnr",
  summary: "The node's own ENR as text.",
  result: { name: "enr", schema: text },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
  handler: async ({ network }) => (await network.identity()).enr,
});

const TOPIC_PEERS = dictionary(list(object({ peerId: text, score: number })));

const getGossipSubPeers = defineMethod({
  number: 62,
  name: "debug_getGossipSubPeers",
  aliases: ["getGossipSubPeers"],
  summary: "The peers of each gossip topic, with their scores and statistics.",
  result: {
    name: "gossip_peers",
    schema: object({
      gossipsub: TOPIC_PEERS,
      mesh: TOPIC_PEERS,
      colocationPeers: list(dictionary(list(text))),
      peerStats: list(object({ peerId: text, null: boolean, connected: boolean, expire: text, score: number })),
      allPeers: list(object({ connected: boolean, peerId: text })),
    }),
  },
  failures: [],
  rest: [get("/fanal/v1/debug/gossip/peers"), get("/nimbus/v1/debug/gossip/peers")],
  cost: "cheap",
  access: "debug",
  example: {},
  handler: ({ network }) => network.gossipPeers(),
});

function connectedPeers(network: NetworkView): Peer[] {
  return network.peers().filter(({ state }) => state === "connected");
}

export const networkMethods = [
  getNetworkIdentity,
  getPeers,
  getPeer,
  getPeerCount,
  getConnectedPeers,
  getNetworkPeerId,
  getNetworkPeers,
  getNetworkEnr,
  getGossipSubPeers,
] as const;
