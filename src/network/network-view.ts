import type { routes } from "@lodestar/api";
import type { LocalNode, NodeIdentity } from "./local-node.ts";

export type PeerCounts = routes.node.PeerCount;
export type PeerState = routes.node.PeerState;
export type PeerDirection = routes.node.PeerDirection;

export interface Peer {
  /** In base58btc. */
  peerId: string;
  enr: string | null;
  lastSeenP2pAddress: string;
  state: PeerState;
  /** Null for a peer that was never connected. */
  direction: PeerDirection | null;
  /** Every address that the peer is known under. */
  addresses: string[];
  protocols: string[];
  protocolVersion: string;
  agentVersion: string;
  score: number;
}

/** What gossip knows of a peer of a topic. */
export interface GossipTopicPeer {
  peerId: string;
  score: number;
  iWantBudget: number;
  iHaveBudget: number;
  outbound: boolean;
  appScore: number;
  behaviourPenalty: number;
  sendConnAvail: boolean;
  closed: boolean;
  atEof: boolean;
  /** `<no address>` when it is not known. */
  address: string;
  /** A duration in words. */
  backoff: string;
  /** `unknown` when it is not known. */
  agent: string;
}

export interface GossipPeerStats {
  peerId: string;
  /** Whether no living peer stands behind the statistics. */
  null: boolean;
  connected: boolean;
  /** A duration in words. */
  expire: string;
  score: number;
}

export interface GossipPeers {
  gossipsub: Record<string, GossipTopicPeer[]>;
  /** Of each topic some of the peers above: those that messages are exchanged with in full. */
  mesh: Record<string, GossipTopicPeer[]>;
  /** One object an address, whose only member is the address with the peers that share it. */
  colocationPeers: Record<string, string[]>[];
  peerStats: GossipPeerStats[];
  allPeers: { connected: boolean; peerId: string }[];
}

/** What the handlers ask the network. */
export interface NetworkView {
  identity(): Promise<NodeIdentity>;
  /** Every known peer, in whatever state. */
  peers(): Peer[];
  /** `peerId` is in base58btc. */
  peer(peerId: string): Peer | undefined;
  peerCounts(): PeerCounts;
  gossipPeers(): GossipPeers;
}

/** A node that speaks to no other: it knows who it is, and has no peers in any state. */
export function noNetwork(node: LocalNode): NetworkView {
  return {
    identity: () => node.identity(),
    peers: () => [],
    peer: () => undefined,
    peerCounts: () => ({ disconnected: 0, connecting: 0, connected: 0, disconnecting: 0 }),
    gossipPeers: () => ({ gossipsub: {}, mesh: {}, colocationPeers: [], peerStats: [], allPeers: [] }),
  };
}
