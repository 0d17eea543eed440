import type { NetworkView, Peer, PeerState } from "../../../src/network/network-view.ts";

function peer(peerId: string, state: PeerState, direction: Peer["direction"], enr: string | null): Peer {
  return {
    peerId,
    enr,
    lastSeenP2pAddress: `/ip4/127.0.0.1/tcp/9000/p2p/${peerId}`,
    state,
    direction,
    addresses: ["/ip4/127.0.0.1/tcp/9000"],
    protocols: ["/eth2/beacon_chain/req/ping/1/ssz_snappy"],
    protocolVersion: "ipfs/0.1.0",
    agentVersion: "Other/v1",
    score: -1.5,
  };
}

export const CONNECTED_IN = peer("QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", "connected", "inbound", null);
export const CONNECTED_OUT = peer(
  "16Uiu2HAm5hPxT7s3TA2f4b4YjAPzS7yLRSgdj87ysDZ6NAXMiRuY",
  "connected",
  "outbound",
  "enr:-a-record",
);
export const DISCONNECTED = peer("QmSoLPppuBtQSGwKDZT2M73ULpjvfd3aZ6ha4oFGL1KrGM", "disconnected", null, null);
export const DISCONNECTING = peer("QmSoLV4Bbm51jM9C4gDYZQ9Cy3U6aXMJDAbzgu2fzaDs64", "disconnecting", "outbound", null);
export const PEERS = [CONNECTED_IN, CONNECTED_OUT, DISCONNECTED, DISCONNECTING];

/** Returns the network with these peers. */
export function networkWith(peers: Peer[], other: NetworkView): NetworkView {
  const count = (state: PeerState) => peers.filter((each) => each.state === state).length;
  return {
    ...other,
    peers: () => peers,
    peer: (peerId) => peers.find((each) => each.peerId === peerId),
    peerCounts: () => ({
      disconnected: count("disconnected"),
      connecting: count("connecting"),
      connected: count("connected"),
      disconnecting: count("disconnecting"),
    }),
  };
}
