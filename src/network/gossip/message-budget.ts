import { SYSTEM_TIMERS, type Timers } from "../../timers.ts";
import { PeerBuckets, type Rate } from "../token-bucket.ts";

/** A peer may be the one that brings everything, some of it late or twice. */
const TIMES_THE_EXPECTED = 3;
/** Small networks are uneven, and test networks run faster than their configuration says. */
const MESSAGES_PER_SECOND_AT_LEAST = 500;

const ALLOWANCE_MS = 1_000;

/** The buckets hold seconds: messages come in bursts, most of a slot's at one moment, and slots may be late. */
const SECONDS: Rate = { burst: 15, perSecond: 1 };

/**
 * How many messages a peer may send. Most useless messages are ignored by the rules of gossip without being held against
 * anybody, and yet each of them costs time and is remembered for two epochs: so there is an end to them.
 */
export class MessageBudget {
  readonly #buckets: PeerBuckets;
  readonly #expectedPerSecond: (topic: string) => number;
  readonly #timers: Pick<Timers, "now">;
  #allowance: { joined: Iterable<string>; perSecond: number; until: number } | undefined;

  constructor(expectedPerSecond: (topic: string) => number, timers: Pick<Timers, "now"> = SYSTEM_TIMERS) {
    this.#buckets = new PeerBuckets(timers);
    this.#expectedPerSecond = expectedPerSecond;
    this.#timers = timers;
  }

  /** Whether the peer may send so many more to a node that has joined the topics. */
  allows(peerId: string, count: number, joined: Iterable<string>): boolean {
    if (count === 0) return true;
    const bucket = this.#buckets.bucket(peerId, "messages", SECONDS);
    const seconds = count / this.#perSecond(joined);
    if (bucket.delayFor(seconds) > 0) return false;
    bucket.take(seconds);
    return true;
  }

  /** Envelopes come by the thousand a second, and the topics seldom change: the sum over them is good for a while. */
  #perSecond(joined: Iterable<string>): number {
    const now = this.#timers.now();
    if (this.#allowance?.joined !== joined || now >= this.#allowance.until) {
      let perSecond = MESSAGES_PER_SECOND_AT_LEAST;
      for (const topic of joined) perSecond += TIMES_THE_EXPECTED * this.#expectedPerSecond(topic);
      this.#allowance = { joined, perSecond, until: now + ALLOWANCE_MS };
    }
    return this.#allowance.perSecond;
  }
}
