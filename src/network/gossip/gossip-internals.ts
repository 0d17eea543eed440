import type { GossipSub } from "@libp2p/gossipsub";
import type { PeerScoreParams, PeerScoreThresholds } from "@libp2p/gossipsub/score";
import type { PeerId, Stream } from "@libp2p/interface";

interface RawStream {
  rawStream: Pick<Stream, "status" | "remoteWriteStatus">;
}

interface ScoredPeer {
  connected: boolean;
  /** When the score of a peer that is gone is forgotten, in unix milliseconds. */
  expire: number;
  behaviourPenalty: number;
}

/** What the class of the library has and its exported interface does not name; ids are in base58btc throughout. */
export interface GossipInternals {
  readonly peers: ReadonlyMap<string, PeerId>;
  /** Of all topics that a peer subscribed to. */
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
  readonly mesh: ReadonlyMap<string, ReadonlySet<string>>;
  readonly streamsInbound: ReadonlyMap<string, RawStream>;
  readonly streamsOutbound: ReadonlyMap<string, RawStream>;
  /** Whether it was we who dialled. */
  readonly outbound: ReadonlyMap<string, boolean>;
  /** IHAVE messages that came since the last heartbeat, and IWANT messages. */
  readonly peerhave: ReadonlyMap<string, number>;
  readonly iwantCounts: ReadonlyMap<string, number>;
  /** Until when, in unix milliseconds, a peer is not asked into the mesh of a topic. */
  readonly backoff: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly score: {
    readonly params: PeerScoreParams;
    readonly peerStats: ReadonlyMap<string, ScoredPeer>;
    readonly peerIPs: ReadonlyMap<string, ReadonlySet<string>>;
  };
  readonly opts: { readonly scoreThresholds: Partial<PeerScoreThresholds> };
  getScore(peerId: string): number;
}

/** The class is not exported; the values are there nevertheless. */
export function gossipInternals(pubsub: GossipSub): GossipInternals {
  return pubsub as GossipSub & GossipInternals;
}
