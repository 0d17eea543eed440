import type { PendingPromise } from "../../../src/debug/promise-tracker.ts";
import type { GossipPeers, GossipTopicPeer } from "../../../src/network/network-view.ts";
import { CONNECTED_IN } from "./peers.ts";

const TOPIC_PEER: GossipTopicPeer = {
  peerId: CONNECTED_IN.peerId,
  score: -0.5,
  iWantBudget: 25,
  iHaveBudget: 10,
  outbound: false,
  appScore: 0,
  behaviourPenalty: 0,
  sendConnAvail: true,
  closed: false,
  atEof: false,
  address: "<no address>",
  backoff: "0 seconds",
  agent: "unknown",
};

const TOPIC = "/eth2/00000000/beacon_block/ssz_snappy";

/** Gossip peers of a node in a network. */
export const GOSSIP_PEERS: GossipPeers = {
  gossipsub: { [TOPIC]: [TOPIC_PEER] },
  mesh: { [TOPIC]: [TOPIC_PEER] },
  colocationPeers: [{ "127.0.0.1": [CONNECTED_IN.peerId] }],
  peerStats: [{ peerId: CONNECTED_IN.peerId, null: false, connected: true, expire: "0 seconds", score: -0.5 }],
  allPeers: [{ connected: true, peerId: CONNECTED_IN.peerId }],
};

export const PENDING_FUTURE: PendingPromise = {
  id: "7",
  child_id: "",
  procname: "waitForBlock",
  filename: "wait.ts",
  line: 12,
  state: "Pending",
};
