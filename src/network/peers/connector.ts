import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import { DialBackoff } from "./dial-backoff.ts";
import { Dialer, type DialTarget } from "./dialer.ts";
import type { DirectPeers } from "./direct-peers.ts";
import type { DialDelay } from "./goodbye.ts";
import { addAddress, type EnrClaims, type KnownPeer, type KnownPeers, wasPeer } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";
import { maxPeers } from "./peer-pruner.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { PeerSessions } from "./peer-sessions.ts";
import {
  countBySubnet,
  lackingSubnets,
  type SubnetName,
  type SubnetNeeds,
  subnetsOf,
  wantedSubnets,
} from "./subnet-coverage.ts";

/** A dialable peer found by discovery. */
export interface DiscoveredPeer extends EnrClaims {
  /** In base58btc. */
  peerId: string;
  /** The signed ENR as text. */
  enr: string;
  /** Multiaddr, ending with the peer id. */
  address: string;
}

/** Source of new peers. */
export interface PeerSource {
  /** Returns an unsubscribe function. */
  onDiscovered(listener: (peer: DiscoveredPeer) => void): () => void;
  /** Requests a lookup. Ignored while a lookup is running. */
  search(): void;
}

const SEARCH_PAUSE_MS = 5_000;
/** Upper bound of the pause after lookups that found no new peers. Does not apply while there are no peers. */
const MAX_SEARCH_PAUSE_MS = 60_000;
/** A peer that has never been connected is removed after this many failed dials. */
const MAX_FAILED_DIALS = 5;

/**
 * Below this fraction of the target, former peers are retried with a shorter backoff. If there are no peers at all,
 * every known peer is retried.
 */
const LOW_PEERS_SHARE = 0.25;
const URGENT_RETRY_MS = 30_000;

interface ConnectorParts {
  host: Pick<Host, "dial" | "peerId">;
  known: KnownPeers;
  scores: PeerScores;
  direct: DirectPeers;
  discovery: PeerSource | undefined;
  subnets: SubnetNeeds;
  custody: PeerCustody;
  sessions: Pick<PeerSessions, "size" | "get" | "values">;
  targetPeers: number;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/**
 * Keeps dialing direct peers, and dials other known peers up to the target. Triggers discovery if more peers are
 * needed.
 */
export class Connector {
  readonly #parts: ConnectorParts;
  readonly #self: string;
  readonly #dialer: Dialer;
  readonly #directBackoff = new DialBackoff({ firstMs: 1_000, maxMs: 60_000 });
  readonly #backoff = new DialBackoff({ firstMs: 10_000, maxMs: 30 * 60_000 });
  #searchedAt = Number.NEGATIVE_INFINITY;
  #searchPauseMs = SEARCH_PAUSE_MS;
  #isDialDue = false;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
    this.#self = parts.host.peerId.toString();
    this.#dialer = new Dialer({
      host: parts.host,
      logger: parts.logger,
      started: ({ key }) => this.#setState(key, "connecting"),
      succeeded: (target, peerId) => this.#succeeded(target, peerId),
      failed: (target) => this.#failed(target),
    });
  }

  tick(): void {
    const now = this.#parts.timers.now();
    this.#dialDirect(now);
    const lacking = this.#lackingSubnets();
    this.#dialKnown(now, lacking);
    this.#search(now, lacking);
  }

  /** Dials immediately, ignoring earlier failures and goodbyes. */
  redial(): void {
    this.#directBackoff.expire();
    this.#backoff.expire();
    this.#searchedAt = Number.NEGATIVE_INFINITY;
    this.tick();
  }

  onDiscovered({ peerId, enr, address, ...claims }: DiscoveredPeer): void {
    if (peerId === this.#self) return;
    if (!this.#parts.known.get(peerId)) this.#searchPauseMs = SEARCH_PAUSE_MS;
    const peer = this.#parts.known.touch(peerId);
    peer.enr = enr;
    peer.record = claims;
    addAddress(peer, address);
    this.#dialSoon();
  }

  /** Called when a connection has ended. `wasGood` resets the backoff. */
  onDisconnect(peerId: string, wasGood: boolean): void {
    this.#searchPauseMs = SEARCH_PAUSE_MS;
    const backoff = this.#backoffOf(peerId);
    if (wasGood) backoff.succeed(peerId);
    else backoff.fail(peerId, this.#parts.timers.now());
  }

  /** Defers dials to the peer. For direct peers, only their own backoff counts. */
  deferDials(peerId: string, { ms, isStrict }: DialDelay): void {
    if (this.#parts.direct.has(peerId)) return;
    const now = this.#parts.timers.now();
    if (isStrict) this.#backoff.block(peerId, now + ms);
    else this.#backoff.postpone(peerId, now, ms);
  }

  /** Aborts dials in progress. */
  close(): Promise<void> {
    return this.#dialer.close();
  }

  #dialDirect(now: number): void {
    const { direct, sessions, scores } = this.#parts;
    for (const { target, peerId } of direct.targets()) {
      if (peerId === this.#self) direct.remove(target.addresses);
      else if (peerId !== undefined && (sessions.get(peerId) || !scores.allows(peerId))) continue;
      else if (this.#directBackoff.isDue(target.key, now)) this.#dialer.dial(target);
    }
  }

  /** Selects peers only after discovery has reported a whole batch. */
  #dialSoon(): void {
    if (this.#isDialDue) return;
    this.#isDialDue = true;
    queueMicrotask(() => {
      this.#isDialDue = false;
      this.#dialKnown(this.#parts.timers.now(), this.#lackingSubnets());
    });
  }

  #dialKnown(now: number, lacking: ReadonlySet<SubnetName>): void {
    const { known, scores, custody, sessions, targetPeers } = this.#parts;
    const budget = {
      present: sessions.size + this.#dialer.active,
      target: targetPeers,
      maximum: maxPeers(targetPeers),
      dials: this.#dialer.free,
      lacking,
    };
    if (budget.dials <= 0 || budget.present >= (lacking.size > 0 ? budget.maximum : budget.target)) return;
    const candidates = [...known.values()]
      .filter((peer) => this.#mayDial(peer, now))
      .map((peer) => ({
        peerId: peer.id,
        score: scores.score(peer.id),
        subnets: subnetsOf(peer, custody),
        lastGoodAt: peer.lastGoodAt,
      }));
    for (const key of selectPeersToDial(candidates, budget)) {
      this.#dialer.dial({ key, addresses: [...(known.get(key)?.addresses ?? [])] });
    }
  }

  #mayDial(peer: KnownPeer, now: number): boolean {
    const { id, state, addresses } = peer;
    const { direct, sessions, scores, targetPeers } = this.#parts;
    // A node that has lost its peers should quickly reconnect to former peers.
    const isUrgent = sessions.size === 0 || (wasPeer(peer) && sessions.size < targetPeers * LOW_PEERS_SHARE);
    return (
      state === "disconnected" &&
      addresses.size > 0 &&
      id !== this.#self &&
      !direct.has(id) &&
      sessions.get(id) === undefined &&
      scores.allows(id) &&
      this.#backoff.isDue(id, now, isUrgent ? URGENT_RETRY_MS : undefined)
    );
  }

  #search(now: number, lacking: ReadonlySet<SubnetName>): void {
    const { discovery, sessions, targetPeers } = this.#parts;
    const isShort = sessions.size < targetPeers || lacking.size > 0;
    if (sessions.size === 0) this.#searchPauseMs = SEARCH_PAUSE_MS;
    if (!discovery || !isShort || now - this.#searchedAt < this.#searchPauseMs) return;
    this.#searchedAt = now;
    this.#searchPauseMs = Math.min(1.5 * this.#searchPauseMs, MAX_SEARCH_PAUSE_MS);
    discovery.search();
  }

  #lackingSubnets(): Set<SubnetName> {
    const { sessions, known, subnets, custody } = this.#parts;
    const present = [...sessions.values()].flatMap(({ peerId }) => known.get(peerId) ?? []);
    const covered = present.map((peer) => ({ subnets: subnetsOf(peer, custody) }));
    return lackingSubnets(countBySubnet(wantedSubnets(subnets), covered));
  }

  #succeeded({ key, addresses }: DialTarget, peerId: string): void {
    const { direct, known } = this.#parts;
    if (key !== peerId) {
      direct.identify(addresses, peerId);
      known.keep(peerId);
    }
    // The connection may already have been closed.
    if (!this.#parts.sessions.get(peerId)) this.#setState(key, "disconnected");
  }

  #failed({ key }: DialTarget): void {
    const { known, sessions, timers } = this.#parts;
    // The peer has dialed this node in the meantime.
    if (sessions.get(key)) return;
    const backoff = this.#backoffOf(key);
    backoff.fail(key, timers.now());
    this.#setState(key, "disconnected");
    const peer = known.get(key);
    if (peer && !wasPeer(peer) && backoff.failures(key) >= MAX_FAILED_DIALS) known.forget(key);
  }

  /** Sets the state of a peer that is not connected. */
  #setState(peerId: string, state: "connecting" | "disconnected"): void {
    const peer = this.#parts.known.get(peerId);
    if (peer?.state === "connecting" || peer?.state === "disconnected") peer.state = state;
  }

  #backoffOf(key: string): DialBackoff {
    const isDirect = this.#parts.direct.targets().some(({ target }) => target.key === key);
    return isDirect ? this.#directBackoff : this.#backoff;
  }
}

interface DialCandidate {
  peerId: string;
  score: number;
  subnets: readonly SubnetName[];
  lastGoodAt: number | null;
}

interface DialBudget {
  /** Number of peers that are connected or being dialed. */
  present: number;
  target: number;
  /** Maximum number of peers when dialing peers on subnets that lack peers. */
  maximum: number;
  /** Number of dials that can be started now. */
  dials: number;
  lacking: ReadonlySet<SubnetName>;
}

/**
 * Selects the peers to dial: first those on subnets that lack peers, then by score, then by the end of the last good
 * connection. Among equals, the newest come first.
 */
export function selectPeersToDial(candidates: readonly DialCandidate[], budget: DialBudget): string[] {
  const { present, target, maximum, dials, lacking } = budget;
  const ranked = candidates
    .map(({ peerId, score, subnets, lastGoodAt }, age) => ({
      peerId,
      score: Math.round(score),
      useful: subnets.filter((subnet) => lacking.has(subnet)).length,
      lastGoodAt: lastGoodAt ?? 0,
      age,
    }))
    .sort((a, b) => b.useful - a.useful || b.score - a.score || b.lastGoodAt - a.lastGoodAt || b.age - a.age);
  const chosen: string[] = [];
  for (const { peerId, useful } of ranked) {
    if (chosen.length >= dials) break;
    if (present + chosen.length < (useful > 0 ? maximum : target)) chosen.push(peerId);
  }
  return chosen;
}
