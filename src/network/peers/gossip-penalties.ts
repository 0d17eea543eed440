import type { GossipInternals } from "../gossip/pubsub.ts";
import type { PeerReporter } from "./peer-scores.ts";

interface GossipPenaltiesParts {
  gossip: Pick<GossipInternals, "getScore" | "opts">;
  reporter: PeerReporter;
}

/** Turns bad gossip scores into peer penalties. */
export class GossipPenalties {
  readonly #gossip: GossipPenaltiesParts["gossip"];
  readonly #reporter: PeerReporter;

  constructor({ gossip, reporter }: GossipPenaltiesParts) {
    this.#gossip = gossip;
    this.#reporter = reporter;
  }

  /** Penalizes a graylisted peer. Called every second, so a few calls lead to a disconnect. */
  onTick(peerId: string): void {
    if (this.#isBelow(peerId, "graylistThreshold")) this.#reporter.penalize(peerId, "severe", "bad gossip score");
  }

  /** Penalizes a peer that disconnects with a bad gossip score, since gossipsub resets the score when it reconnects. */
  onDisconnect(peerId: string): void {
    if (this.#isBelow(peerId, "gossipThreshold"))
      this.#reporter.penalize(peerId, "severe", "disconnected with bad gossip score");
  }

  #isBelow(peerId: string, name: "graylistThreshold" | "gossipThreshold"): boolean {
    const threshold = this.#gossip.opts.scoreThresholds[name];
    return threshold !== undefined && this.#gossip.getScore(peerId) < threshold;
  }
}
