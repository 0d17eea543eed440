import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { GossipInternals } from "./gossip/pubsub.ts";
import type { GossipPeerStats, GossipPeers, GossipTopicPeer } from "./network-view.ts";
import type { KnownPeers } from "./peers/known-peers.ts";

/** The library's limits per peer and heartbeat, which it does not export. */
const MAX_IHAVE_MESSAGES = 10;
const MAX_IWANT_MESSAGES = 10;

interface GossipViewParts {
  gossip: GossipInternals;
  known: Pick<KnownPeers, "get">;
  /** Gossip timestamps are Unix milliseconds. */
  timers?: Pick<Timers, "unixNow">;
}

/** Gossip state for the API: peers per topic, mesh membership and scores. */
export class GossipView {
  readonly #gossip: GossipInternals;
  readonly #known: Pick<KnownPeers, "get">;
  readonly #timers: Pick<Timers, "unixNow">;

  constructor({ gossip, known, timers = SYSTEM_TIMERS }: GossipViewParts) {
    this.#gossip = gossip;
    this.#known = known;
    this.#timers = timers;
  }

  gossipPeers(): GossipPeers {
    const { topics, mesh, score, peers } = this.#gossip;
    const now = this.#timers.unixNow();
    const subscribers = new Map(Array.from(topics, ([topic, ids]) => [topic, new Set(ids)]));
    // Mesh peers are subscribed, even if the library has not recorded their subscriptions yet.
    for (const [topic, ids] of mesh) {
      const all = subscribers.get(topic) ?? new Set();
      for (const id of ids) all.add(id);
      subscribers.set(topic, all);
    }
    return {
      gossipsub: this.#byTopic(subscribers, now),
      mesh: this.#byTopic(mesh, now),
      colocationPeers: Array.from(score.peerIPs, ([address, ids]) => ({ [address]: [...ids] })),
      peerStats: Array.from(score.peerStats.keys(), (id) => this.#stats(id, now)),
      allPeers: Array.from(peers.keys(), (id) => ({ connected: this.#isConnected(id), peerId: id })),
    };
  }

  #byTopic(topics: ReadonlyMap<string, ReadonlySet<string>>, now: number): Record<string, GossipTopicPeer[]> {
    const entries = Array.from(
      topics,
      ([topic, ids]) => [topic, Array.from(ids, (id) => this.#describe(topic, id, now))] as const,
    );
    return Object.fromEntries(entries);
  }

  #describe(topic: string, id: string, now: number): GossipTopicPeer {
    const { score, outbound, peerhave, iwantCounts, backoff, streamsInbound, streamsOutbound } = this.#gossip;
    const peer = this.#known.get(id);
    const incoming = streamsInbound.get(id)?.rawStream;
    const outgoing = streamsOutbound.get(id)?.rawStream;
    return {
      peerId: id,
      score: this.#gossip.getScore(id),
      iWantBudget: Math.max(0, MAX_IWANT_MESSAGES - (iwantCounts.get(id) ?? 0)),
      iHaveBudget: Math.max(0, MAX_IHAVE_MESSAGES - (peerhave.get(id) ?? 0)),
      outbound: outbound.get(id) ?? false,
      appScore: score.params.appSpecificScore(id),
      behaviourPenalty: score.peerStats.get(id)?.behaviourPenalty ?? 0,
      sendConnAvail: outgoing?.status === "open",
      closed: outgoing !== undefined && outgoing.status !== "open",
      atEof: incoming !== undefined && incoming.remoteWriteStatus !== "writable",
      address: peer?.lastSeenAddress || "<no address>",
      backoff: durationText((backoff.get(topic)?.get(id) ?? now) - now),
      agent: peer?.agentVersion || "unknown",
    };
  }

  #stats(id: string, now: number): GossipPeerStats {
    const { peers, score } = this.#gossip;
    const stats = score.peerStats.get(id);
    const isConnected = stats?.connected ?? false;
    return {
      peerId: id,
      null: !peers.has(id),
      connected: isConnected,
      // The statistics of connected peers do not expire.
      expire: durationText(isConnected ? 0 : (stats?.expire ?? now) - now),
      score: this.#gossip.getScore(id),
    };
  }

  #isConnected(id: string): boolean {
    return this.#gossip.streamsOutbound.get(id)?.rawStream.status === "open";
  }
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Formats a duration, for example as `1m30s` or `250ms`. Negative durations become `0s`. */
function durationText(ms: number): string {
  let rest = Math.max(0, Math.round(ms));
  let text = "";
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === "" ? "0s" : text;
}
