import type { GossipPeers, NetworkView, Peer, PeerState } from "../network/network-view.ts";

/** A connected peer as the historical server told of it. */
export interface PooledPeer {
  id: string;
  info: { peerId: string; addrs: string[]; protocols: string[]; protoVersion: string; agentVersion: string };
  connectionState: Capitalize<PeerState>;
  score: number;
}

/** The methods on the network that are outside the standard. */
export interface NetworkApi {
  getPooledPeers(): { peers: PooledPeer[] };
  getNetworkPeerId(): Promise<string>;
  getNetworkPeers(): string[];
  getNetworkEnr(): Promise<string>;
  getGossipSubPeers(): GossipPeers;
}

export function createNetworkApi(network: NetworkView): NetworkApi {
  const pool = () => network.peers().filter(({ state }) => state === "connected");
  return {
    getPooledPeers: () => ({ peers: pool().map(pooledPeer) }),
    getNetworkPeerId: async () => (await network.identity()).peerId,
    getNetworkPeers: () => pool().map(({ peerId }) => peerId),
    getNetworkEnr: async () => (await network.identity()).enr,
    getGossipSubPeers: () => network.gossipPeers(),
  };
}

function pooledPeer({ peerId, addresses, protocols, protocolVersion, agentVersion, state, score }: Peer): PooledPeer {
  return {
    id: peerId,
    info: { peerId, addrs: addresses, protocols, protoVersion: protocolVersion, agentVersion },
    connectionState: capitalized(state),
    score,
  };
}

function capitalized(state: PeerState): Capitalize<PeerState> {
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}` as Capitalize<PeerState>;
}
