import type { Conversations } from "./conversations.ts";
import type { DirectPeers } from "./direct-peers.ts";
import type { KnownPeers } from "./known-peers.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { SubnetNeeds } from "./peer-source.ts";
import { choosePruned, maxPeers, type PrunablePeer } from "./pruning.ts";
import { subnetsOf, wantedSubnets } from "./subnet-coverage.ts";

export interface PrunerParts {
  known: KnownPeers;
  scores: PeerScores;
  direct: DirectPeers;
  subnets: SubnetNeeds;
  conversations: Pick<Conversations, "size" | "values">;
  targetPeers: number;
}

/** Knows which of the connected peers are too many. */
export class Pruner {
  readonly #parts: PrunerParts;

  constructor(parts: PrunerParts) {
    this.#parts = parts;
  }

  /** Those that are already being left do not count. */
  tooMany(): string[] {
    const { subnets, targetPeers, conversations } = this.#parts;
    // Asked every second, and nearly always there are none.
    if (conversations.size <= maxPeers(targetPeers)) return [];
    return choosePruned(this.#staying(), { target: targetPeers, wanted: wantedSubnets(subnets) });
  }

  #staying(): PrunablePeer[] {
    const { known, scores, direct, conversations } = this.#parts;
    return [...conversations.values()].flatMap(({ peerId, direction, since, relevant }) => {
      const peer = known.get(peerId);
      if (peer?.state !== "connected") return [];
      return {
        peerId,
        since,
        isOutbound: direction === "outbound",
        isDirect: direct.has(peerId),
        isRelevant: relevant,
        score: scores.score(peerId),
        subnets: subnetsOf(peer),
      };
    });
  }
}
