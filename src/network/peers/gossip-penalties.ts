import type { GossipInternals } from "../gossip/pubsub.ts";
import type { PeerReporter } from "./peer-scores.ts";

interface GossipPenaltiesParts {
  gossip: Pick<GossipInternals, "getScore" | "opts">;
  reporter: PeerReporter;
}

/** Holds against peers what gossip thinks of them. */
export class GossipPenalties {
  readonly #gossip: GossipPenaltiesParts["gossip"];
  readonly #reporter: PeerReporter;

  constructor({ gossip, reporter }: GossipPenaltiesParts) {
    this.#gossip = gossip;
    this.#reporter = reporter;
  }

  /** A peer whose messages gossip no longer listens to is of no use. Called every second, it sends such a peer away in a few. */
  onTick(peerId: string): void {
    if (this.#isBelow(peerId, "graylistThreshold")) this.#reporter.penalize(peerId, "severe", "a bad gossip score");
  }

  /** The library begins anew when a peer comes back, so that leaving would wipe out what it did. */
  onDisconnect(peerId: string): void {
    if (this.#isBelow(peerId, "gossipThreshold"))
      this.#reporter.penalize(peerId, "severe", "left with a bad gossip score");
  }

  #isBelow(peerId: string, name: "graylistThreshold" | "gossipThreshold"): boolean {
    const threshold = this.#gossip.opts.scoreThresholds[name];
    return threshold !== undefined && this.#gossip.getScore(peerId) < threshold;
  }
}
