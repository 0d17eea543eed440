import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import { BackOff } from "./back-off.ts";
import { Dialer, type DialTarget } from "./dialer.ts";
import type { DirectPeers } from "./direct-peers.ts";
import type { Silence } from "./goodbye.ts";
import { addAddress, type KnownPeer, type KnownPeers, type RecordClaims, wasPeer } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { PeerSessions } from "./peer-sessions.ts";
import { maxPeers } from "./pruning.ts";
import {
  countBySubnet,
  lackingSubnets,
  type SubnetName,
  type SubnetNeeds,
  subnetsOf,
  wantedSubnets,
} from "./subnet-coverage.ts";

/** A node whose record was found, and which may be dialled. */
export interface FoundPeer extends RecordClaims {
  /** In base58btc. */
  peerId: string;
  /** Its signed record in text form. */
  enr: string;
  /** A multiaddress that ends in `/p2p/` and the id. */
  address: string;
}

/** Finds peers on the network. */
export interface PeerSource {
  /** Returns the function that ends it. */
  onFound(listener: (found: FoundPeer) => void): () => void;
  /** Asks for a search soon; while one runs it asks for nothing. */
  search(): void;
}

const SEARCH_PAUSE_MS = 5_000;
/** Searches that find nobody new become this rare, unless there is no peer at all. */
const MAX_SEARCH_PAUSE_MS = 60_000;
/** A peer that was never there is forgotten after so many dials in vain. */
const MAX_VAIN_DIALS = 5;

/** With less than this share of the peers that are wanted, old ones are tried again more often, and with none at all everybody is. */
const FEW_PEERS = 0.25;
const HURRY_MS = 30_000;

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

/** Keeps the node connected: to the direct peers always, and to as many others as are wanted. */
export class Connector {
  readonly #parts: ConnectorParts;
  readonly #self: string;
  readonly #dialer: Dialer;
  readonly #directBackOff = new BackOff({ firstMs: 1_000, maxMs: 60_000 });
  readonly #backOff = new BackOff({ firstMs: 10_000, maxMs: 30 * 60_000 });
  #searchedAt = Number.NEGATIVE_INFINITY;
  #searchPauseMs = SEARCH_PAUSE_MS;
  #isDialDue = false;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
    this.#self = parts.host.peerId.toString();
    this.#dialer = new Dialer({
      host: parts.host,
      logger: parts.logger,
      began: ({ key }) => this.#setState(key, "connecting"),
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

  /** Dials without the waits that earlier failures and goodbyes demand. */
  redial(): void {
    this.#directBackOff.expire();
    this.#backOff.expire();
    this.#searchedAt = Number.NEGATIVE_INFINITY;
    this.tick();
  }

  onFound({ peerId, enr, address, ...claims }: FoundPeer): void {
    if (peerId === this.#self) return;
    if (!this.#parts.known.get(peerId)) this.#searchPauseMs = SEARCH_PAUSE_MS;
    const peer = this.#parts.known.touch(peerId);
    peer.enr = enr;
    peer.record = claims;
    addAddress(peer, address);
    this.#dialSoon();
  }

  /** A connection is gone that was good, or not. */
  onEnd(peerId: string, wasGood: boolean): void {
    this.#searchPauseMs = SEARCH_PAUSE_MS;
    const backOff = this.#backOffOf(peerId);
    if (wasGood) backOff.succeed(peerId);
    else backOff.fail(peerId, this.#parts.timers.now());
  }

  /** Does not dial the peer for a while. Direct peers are left alone only as their failures demand. */
  leaveAlone(peerId: string, { ms, isFirm }: Silence): void {
    if (this.#parts.direct.has(peerId)) return;
    const now = this.#parts.timers.now();
    if (isFirm) this.#backOff.bar(peerId, now + ms);
    else this.#backOff.postpone(peerId, now, ms);
  }

  /** Ends the dials that are under way. */
  close(): Promise<void> {
    return this.#dialer.close();
  }

  #dialDirect(now: number): void {
    const { direct, sessions, scores } = this.#parts;
    for (const { target, peerId } of direct.targets()) {
      if (peerId === this.#self) direct.remove(target.addresses);
      else if (peerId !== undefined && (sessions.get(peerId) || !scores.allows(peerId))) continue;
      else if (this.#directBackOff.isDue(target.key, now)) this.#dialer.dial(target);
    }
  }

  /** A search offers many peers at a time; whom to dial is decided when all of them are in. */
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
    const room = {
      present: sessions.size + this.#dialer.active,
      target: targetPeers,
      maximum: maxPeers(targetPeers),
      dials: this.#dialer.free,
      lacking,
    };
    if (room.dials <= 0 || room.present >= (lacking.size > 0 ? room.maximum : room.target)) return;
    const candidates = [...known.values()]
      .filter((peer) => this.#mayDial(peer, now))
      .map((peer) => ({
        peerId: peer.id,
        score: scores.score(peer.id),
        subnets: subnetsOf(peer, custody),
        lastGoodAt: peer.lastGoodAt,
      }));
    for (const key of chooseDialled(candidates, room)) {
      this.#dialer.dial({ key, addresses: [...(known.get(key)?.addresses ?? [])] });
    }
  }

  #mayDial(peer: KnownPeer, now: number): boolean {
    const { id, state, addresses } = peer;
    const { direct, sessions, scores, targetPeers } = this.#parts;
    // A node that was cut off should soon be back with those it knew, whoever ended it.
    const isHurried = sessions.size === 0 || (wasPeer(peer) && sessions.size < targetPeers * FEW_PEERS);
    return (
      state === "disconnected" &&
      addresses.size > 0 &&
      id !== this.#self &&
      !direct.has(id) &&
      sessions.get(id) === undefined &&
      scores.allows(id) &&
      this.#backOff.isDue(id, now, isHurried ? HURRY_MS : undefined)
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
    // The connection may be gone again by now.
    if (!this.#parts.sessions.get(peerId)) this.#setState(key, "disconnected");
  }

  #failed({ key }: DialTarget): void {
    const { known, sessions, timers } = this.#parts;
    // The peer dialled us meanwhile, and that connection stays.
    if (sessions.get(key)) return;
    const backOff = this.#backOffOf(key);
    backOff.fail(key, timers.now());
    this.#setState(key, "disconnected");
    const peer = known.get(key);
    if (peer && !wasPeer(peer) && backOff.failures(key) >= MAX_VAIN_DIALS) known.forget(key);
  }

  /** Of a peer that is not connected. */
  #setState(peerId: string, state: "connecting" | "disconnected"): void {
    const peer = this.#parts.known.get(peerId);
    if (peer?.state === "connecting" || peer?.state === "disconnected") peer.state = state;
  }

  #backOffOf(key: string): BackOff {
    const isDirect = this.#parts.direct.targets().some(({ target }) => target.key === key);
    return isDirect ? this.#directBackOff : this.#backOff;
  }
}

interface DialCandidate {
  peerId: string;
  score: number;
  subnets: readonly SubnetName[];
  lastGoodAt: number | null;
}

interface DialRoom {
  /** Peers that are connected or being dialled. */
  present: number;
  target: number;
  /** For the sake of a subnet that lacks peers, there may be as many as this. */
  maximum: number;
  /** How many dials can begin now. */
  dials: number;
  lacking: ReadonlySet<SubnetName>;
}

/**
 * Whom to dial next: those on subnets that lack peers, then the best; of equals those that were good before, the last ones
 * first, and then the last of the candidates, which are the newest.
 */
export function chooseDialled(candidates: readonly DialCandidate[], room: DialRoom): string[] {
  const { present, target, maximum, dials, lacking } = room;
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
