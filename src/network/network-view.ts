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
  /** Null if the peer has never been connected. */
  direction: PeerDirection | null;
  /** All known addresses of the peer. */
  addresses: string[];
  protocols: string[];
  protocolVersion: string;
  agentVersion: string;
  score: number;
}

/** A peer's gossip state on a topic. */
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
  /** `<no address>` if unknown. */
  address: string;
  /** A duration, such as `1m30s`. */
  backoff: string;
  /** `unknown` if not known. */
  agent: string;
}

export interface GossipPeerStats {
  peerId: string;
  /** True if the peer is no longer connected for gossip. */
  null: boolean;
  connected: boolean;
  /** A duration, such as `1m30s`. */
  expire: string;
  score: number;
}

export interface GossipPeers {
  gossipsub: Record<string, GossipTopicPeer[]>;
  /** The subset of the peers above with which full messages are exchanged. */
  mesh: Record<string, GossipTopicPeer[]>;
  /** One object per address. Its only key is the address, and its value lists the peers that share the address. */
  colocationPeers: Record<string, string[]>[];
  peerStats: GossipPeerStats[];
  allPeers: { connected: boolean; peerId: string }[];
}

/** Queries about the network for the API. */
export interface NetworkView {
  identity(): Promise<NodeIdentity>;
  /** Returns all known peers, in any state. */
  peers(): Peer[];
  /** `peerId` is in base58btc. */
  peer(peerId: string): Peer | undefined;
  peerCounts(): PeerCounts;
  gossipPeers(): GossipPeers;
}

/** Returns the view for a node without networking, which has an identity but no peers. */
export function offlineNetworkView(node: LocalNode): NetworkView {
  return {
    identity: () => node.identity(),
    peers: () => [],
    peer: () => undefined,
    peerCounts: () => ({ disconnected: 0, connecting: 0, connected: 0, disconnecting: 0 }),
    gossipPeers: () => ({ gossipsub: {}, mesh: {}, colocationPeers: [], peerStats: [], allPeers: [] }),
  };
}
