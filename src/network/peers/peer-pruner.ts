import type { DirectPeers } from "./direct-peers.ts";
import type { KnownPeers } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { PeerSessions } from "./peer-sessions.ts";
import {
  countBySubnet,
  MIN_PEERS_PER_SUBNET,
  type SubnetName,
  type SubnetNeeds,
  subnetsOf,
  wantedSubnets,
} from "./subnet-coverage.ts";

/** A connected peer that may be pruned. */
export interface PrunablePeer {
  peerId: string;
  isOutbound: boolean;
  /** True if the operator configured the peer, which is then never pruned. */
  isDirect: boolean;
  /** True if the peer's status says that it is on our chain. */
  isRelevant: boolean;
  score: number;
  subnets: readonly SubnetName[];
  /** When the peer was connected. */
  since: number;
}

/** Fraction of the target reserved for outbound peers, because an attacker could control all inbound ones. */
const OUTBOUND_SHARE = 0.3;

/** Returns the maximum number of peers. It exceeds the target so that new peers can be evaluated before pruning. */
export function maxPeers(target: number): number {
  return Math.ceil(target * 1.1);
}

/**
 * Selects the peers to disconnect when there are too many. First prunes down to the target without touching needed
 * peers, and then down to the limit if necessary. The worst peers are pruned first, and among equals the newest.
 */
export function selectPeersToPrune(
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
    peer.subnets.some((subnet) => (counts.get(subnet) ?? Number.POSITIVE_INFINITY) <= MIN_PEERS_PER_SUBNET);
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

/** Compares two peers by usefulness. Negative if `a` is less useful. */
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

/** Finds the connected peers to prune. */
export class Pruner {
  readonly #parts: PrunerParts;

  constructor(parts: PrunerParts) {
    this.#parts = parts;
  }

  /** Returns the peers to disconnect. Ignores peers that are already being disconnected. */
  excessPeers(): string[] {
    const { subnets, targetPeers, sessions } = this.#parts;
    // Called every second, when there are hardly ever too many peers.
    if (sessions.size <= maxPeers(targetPeers)) return [];
    return selectPeersToPrune(this.#candidates(), { target: targetPeers, wanted: wantedSubnets(subnets) });
  }

  #candidates(): PrunablePeer[] {
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
