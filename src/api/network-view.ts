export interface PeerCounts {
  disconnected: number;
  connecting: number;
  connected: number;
  disconnecting: number;
}

/** What the node handlers ask the network. */
export interface NetworkView {
  peerCounts(): PeerCounts;
}

/** A node that speaks to no other has no peers in any state. */
export const noNetwork: NetworkView = {
  peerCounts: () => ({ disconnected: 0, connecting: 0, connected: 0, disconnecting: 0 }),
};
