import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { type Rate, TokenBucket } from "../../async/token-bucket.ts";
import { PeerBuckets } from "../peer-buckets.ts";

/** A single peer may deliver all expected messages, some of them late or twice. */
const PEER_FACTOR = 3;
/** Each mesh peer, of which there are at most a dozen, may deliver every message. */
const TOTAL_FACTOR = 12;
/** Lower bound for small networks, whose traffic is uneven, and for test networks with short slots. */
const MIN_PEER_RATE = 500;
const MIN_TOTAL_RATE = 4 * MIN_PEER_RATE;

const RATE_CACHE_MS = 1_000;

/** One token is one second at the allowed rate. The burst covers late slots and the peak within a slot. */
const SECONDS: Rate = { burst: 15, perSecond: 1 };

/** Joined topics and the number of connected peers. */
interface Traffic {
  joined: Iterable<string>;
  peers: number;
}

/** Allowed messages per second, for one peer and in total. */
interface AllowedRates {
  perPeer: number;
  total: number;
}

/**
 * Rate limit for gossip messages, both in total and per peer. Useless messages are mostly ignored without a penalty,
 * but each of them costs time, and memory in the seen cache for two epochs. Each peer is guaranteed an equal share of
 * the total rate. Messages beyond this share draw on a common bucket.
 */
export class MessageRateLimiter {
  readonly #buckets: PeerBuckets;
  readonly #common: TokenBucket;
  readonly #expectedPerSecond: (topic: string) => number;
  readonly #timers: Pick<Timers, "now">;
  #allowance: { joined: Iterable<string>; perSecond: AllowedRates; until: number } | undefined;

  constructor(expectedPerSecond: (topic: string) => number, timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#buckets = new PeerBuckets(timers);
    this.#common = new TokenBucket(SECONDS, timers);
    this.#expectedPerSecond = expectedPerSecond;
    this.#timers = timers;
  }

  /** Counts messages from a peer. Returns the limit that they exceed, if any. Rejected messages are not counted. */
  take(peerId: string, count: number, { joined, peers }: Traffic): "ok" | "peer limit" | "total limit" {
    if (count === 0) return "ok";
    const { perPeer, total } = this.#perSecond(joined);
    const peerBucket = this.#buckets.bucket(peerId, "messages", SECONDS);
    if (peerBucket.delayFor(count / perPeer) > 0) return "peer limit";
    const share = this.#buckets.bucket(peerId, "share", SECONDS);
    const secondsOfShare = (count * Math.max(1, peers)) / total;
    if (share.delayFor(secondsOfShare) === 0) {
      share.take(secondsOfShare);
    } else if (this.#common.delayFor(count / total) === 0) {
      this.#common.take(count / total);
    } else {
      return "total limit";
    }
    peerBucket.take(count / perPeer);
    return "ok";
  }

  /**
   * Returns the allowed rates, cached for a second: RPCs arrive by the thousand, and the joined topics rarely change.
   */
  #perSecond(joined: Iterable<string>): AllowedRates {
    const now = this.#timers.now();
    if (this.#allowance?.joined !== joined || now >= this.#allowance.until) {
      let expected = 0;
      for (const topic of joined) expected += this.#expectedPerSecond(topic);
      const perSecond = {
        perPeer: MIN_PEER_RATE + PEER_FACTOR * expected,
        total: MIN_TOTAL_RATE + TOTAL_FACTOR * expected,
      };
      this.#allowance = { joined, perSecond, until: now + RATE_CACHE_MS };
    }
    return this.#allowance.perSecond;
  }
}
