import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { PeerBuckets, type Rate, TokenBucket } from "../token-bucket.ts";

/** A peer may be the one that brings everything, some of it late or twice. */
const TIMES_BY_ONE = 3;
/** All that are in a mesh, of which there are at most a dozen, bring the same, and do not know of each other. */
const TIMES_BY_ALL = 12;
/** Small networks are uneven, and test networks run faster than their configuration says. */
const MESSAGES_PER_SECOND_AT_LEAST = 500;
const MESSAGES_PER_SECOND_AT_LEAST_BY_ALL = 4 * MESSAGES_PER_SECOND_AT_LEAST;

const ALLOWANCE_MS = 1_000;

/** The buckets hold seconds: messages come in bursts, most of a slot's at one moment, and slots may be late. */
const SECONDS: Rate = { burst: 15, perSecond: 1 };

/** What a node listens to, and how many send it. */
interface Audience {
  joined: Iterable<string>;
  peers: number;
}

/** Messages a second. */
interface Allowance {
  byOne: number;
  byAll: number;
}

/**
 * How many messages the peers may send, each of them and all together. Most useless messages are ignored by the rules of gossip
 * without being held against anybody, and yet each of them costs time and is remembered for two epochs: so there is an end to
 * them, also where many peers send a little too much. Each peer has its equal part of what all may send, which
 * nobody can take from it; what it sends beyond comes out of what is common to all.
 */
export class MessageBudget {
  readonly #buckets: PeerBuckets;
  readonly #common: TokenBucket;
  readonly #expectedPerSecond: (topic: string) => number;
  readonly #timers: Pick<Timers, "now">;
  #allowance: { joined: Iterable<string>; perSecond: Allowance; until: number } | undefined;

  constructor(expectedPerSecond: (topic: string) => number, timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#buckets = new PeerBuckets(timers);
    this.#common = new TokenBucket(SECONDS, timers);
    this.#expectedPerSecond = expectedPerSecond;
    this.#timers = timers;
  }

  /** Takes so many messages of a peer in, or tells whose limit they are beyond: that of the peer, or that of all together. */
  take(peerId: string, count: number, { joined, peers }: Audience): "taken" | "beyond one" | "beyond all" {
    if (count === 0) return "taken";
    const { byOne, byAll } = this.#perSecond(joined);
    const own = this.#buckets.bucket(peerId, "messages", SECONDS);
    if (own.delayFor(count / byOne) > 0) return "beyond one";
    const part = this.#buckets.bucket(peerId, "part", SECONDS);
    const secondsOfPart = (count * Math.max(1, peers)) / byAll;
    if (part.delayFor(secondsOfPart) === 0) {
      part.take(secondsOfPart);
    } else if (this.#common.delayFor(count / byAll) === 0) {
      this.#common.take(count / byAll);
    } else {
      return "beyond all";
    }
    own.take(count / byOne);
    return "taken";
  }

  /** Envelopes come by the thousand a second, and the topics seldom change: the sum over them is good for a while. */
  #perSecond(joined: Iterable<string>): Allowance {
    const now = this.#timers.now();
    if (this.#allowance?.joined !== joined || now >= this.#allowance.until) {
      let expected = 0;
      for (const topic of joined) expected += this.#expectedPerSecond(topic);
      const perSecond = {
        byOne: MESSAGES_PER_SECOND_AT_LEAST + TIMES_BY_ONE * expected,
        byAll: MESSAGES_PER_SECOND_AT_LEAST_BY_ALL + TIMES_BY_ALL * expected,
      };
      this.#allowance = { joined, perSecond, until: now + ALLOWANCE_MS };
    }
    return this.#allowance.perSecond;
  }
}
