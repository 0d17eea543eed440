import type { DirectPeers } from "./direct-peers.ts";
import type { KnownPeers } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { PeerSessions } from "./peer-sessions.ts";
import {
  countBySubnet,
  ENOUGH_ON_SUBNET,
  type SubnetName,
  type SubnetNeeds,
  subnetsOf,
  wantedSubnets,
} from "./subnet-coverage.ts";

export interface PrunablePeer {
  peerId: string;
  isOutbound: boolean;
  /** Asked for by the operator: never pruned. */
  isDirect: boolean;
  /** Its chain is known to be ours. */
  isRelevant: boolean;
  score: number;
  subnets: readonly SubnetName[];
  /** When it connected. */
  since: number;
}

/** Peers that others chose are all the attacker's if we choose none: this share of the target stays outbound. */
const OUTBOUND_SHARE = 0.3;

/** There may be more peers than wanted by this much, so that newcomers are looked at before somebody has to go. */
export function maxPeers(target: number): number {
  return Math.ceil(target * 1.1);
}

/**
 * Whom to send away when there are too many: down to the target, or, as far as the others are needed, to the maximum. The
 * worst first; of equals those that came last.
 */
export function choosePruned(
  peers: readonly PrunablePeer[],
  { target, wanted }: { target: number; wanted: ReadonlySet<SubnetName> },
): string[] {
  const maximum = maxPeers(target);
  if (peers.length <= maximum) return [];
  const pruned = new Set<string>();
  const remaining = () => peers.length - pruned.size;
  const counts = countBySubnet(wanted, peers);
  let outbound = peers.filter(({ isOutbound }) => isOutbound).length;
  const outboundNeeded = Math.ceil(target * OUTBOUND_SHARE);

  const isNeeded = (peer: PrunablePeer) =>
    (peer.isOutbound && outbound <= outboundNeeded) ||
    peer.subnets.some((subnet) => (counts.get(subnet) ?? Number.POSITIVE_INFINITY) <= ENOUGH_ON_SUBNET);
  const prune = (peer: PrunablePeer) => {
    pruned.add(peer.peerId);
    if (peer.isOutbound) outbound--;
    for (const subnet of peer.subnets) {
      const count = counts.get(subnet);
      if (count !== undefined) counts.set(subnet, count - 1);
    }
  };

  const candidates = peers.filter(({ isDirect }) => !isDirect).sort((a, b) => compareWorth(a, b, wanted));
  for (const peer of candidates) {
    if (remaining() <= target) break;
    if (!isNeeded(peer)) prune(peer);
  }
  for (const peer of candidates) {
    if (remaining() <= maximum) break;
    if (!pruned.has(peer.peerId)) prune(peer);
  }
  return [...pruned];
}

/** Negative when `a` is worth less. */
function compareWorth(a: PrunablePeer, b: PrunablePeer, wanted: ReadonlySet<SubnetName>): number {
  const useful = ({ subnets }: PrunablePeer) => subnets.filter((subnet) => wanted.has(subnet)).length;
  return (
    Number(a.isRelevant) - Number(b.isRelevant) ||
    Math.round(a.score) - Math.round(b.score) ||
    useful(a) - useful(b) ||
    a.subnets.length - b.subnets.length ||
    b.since - a.since
  );
}

interface PrunerParts {
  known: KnownPeers;
  scores: PeerScores;
  direct: DirectPeers;
  subnets: SubnetNeeds;
  custody: PeerCustody;
  sessions: Pick<PeerSessions, "size" | "values">;
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
    const { subnets, targetPeers, sessions } = this.#parts;
    // Asked every second, and nearly always there are none.
    if (sessions.size <= maxPeers(targetPeers)) return [];
    return choosePruned(this.#staying(), { target: targetPeers, wanted: wantedSubnets(subnets) });
  }

  #staying(): PrunablePeer[] {
    const { known, scores, direct, custody, sessions } = this.#parts;
    return [...sessions.values()].flatMap(({ peerId, direction, since, relevant }) => {
      const peer = known.get(peerId);
      if (peer?.state !== "connected") return [];
      return {
        peerId,
        since,
        isOutbound: direction === "outbound",
        isDirect: direct.has(peerId),
        isRelevant: relevant,
        score: scores.score(peerId),
        subnets: subnetsOf(peer, custody),
      };
    });
  }
}
