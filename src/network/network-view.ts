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
  /** Null if the peer was never connected. */
  direction: PeerDirection | null;
  /** All known addresses of the peer. */
  addresses: string[];
  protocols: string[];
  protocolVersion: string;
  agentVersion: string;
  score: number;
}

/** Gossip state of a peer in a topic. */
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
  /** A duration such as `1m30s`. */
  backoff: string;
  /** `unknown` if not known. */
  agent: string;
}

export interface GossipPeerStats {
  peerId: string;
  /** True if the peer is no longer connected to gossip. */
  null: boolean;
  connected: boolean;
  /** A duration such as `1m30s`. */
  expire: string;
  score: number;
}

export interface GossipPeers {
  gossipsub: Record<string, GossipTopicPeer[]>;
  /** Subset of the peers above that exchange full messages. */
  mesh: Record<string, GossipTopicPeer[]>;
  /** One object per address, with the address as its only key and the peers that share it as value. */
  colocationPeers: Record<string, string[]>[];
  peerStats: GossipPeerStats[];
  allPeers: { connected: boolean; peerId: string }[];
}

/** Network queries of the API. */
export interface NetworkView {
  identity(): Promise<NodeIdentity>;
  /** Returns all known peers in any state. */
  peers(): Peer[];
  /** `peerId` is in base58btc. */
  peer(peerId: string): Peer | undefined;
  peerCounts(): PeerCounts;
  gossipPeers(): GossipPeers;
}

/** View of a node without networking: it has an identity but no peers. */
export function offlineNetworkView(node: LocalNode): NetworkView {
  return {
    identity: () => node.identity(),
    peers: () => [],
    peer: () => undefined,
    peerCounts: () => ({ disconnected: 0, connecting: 0, connected: 0, disconnecting: 0 }),
    gossipPeers: () => ({ gossipsub: {}, mesh: {}, colocationPeers: [], peerStats: [], allPeers: [] }),
  };
}
