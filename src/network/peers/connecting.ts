import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import { BackOff } from "./back-off.ts";
import type { Conversations } from "./conversations.ts";
import { chooseDialled } from "./dial-choice.ts";
import { Dialer, type DialTarget } from "./dialer.ts";
import type { DirectPeers } from "./direct-peers.ts";
import { addAddress, type KnownPeer, type KnownPeers } from "./known-peers.ts";
import type { PeerScores } from "./peer-scores.ts";
import type { FoundPeer, PeerSource, SubnetNeeds } from "./peer-source.ts";
import { maxPeers } from "./pruning.ts";
import { countBySubnet, lackingSubnets, type SubnetName, subnetsOf, wantedSubnets } from "./subnet-coverage.ts";
import type { Timers } from "./timers.ts";

const SEARCH_PAUSE_MS = 5_000;
/** Searches that find nobody new become this rare, unless there is no peer at all. */
const MAX_SEARCH_PAUSE_MS = 60_000;
/** A peer that was never there is forgotten after so many dials in vain. */
const MAX_VAIN_DIALS = 5;

/** With less than this share of the peers that are wanted, old ones are tried again more often. */
const FEW_PEERS = 0.25;
const HURRY_MS = 30_000;

export interface ConnectingParts {
  host: Pick<Host, "dial" | "peerId">;
  known: KnownPeers;
  scores: PeerScores;
  direct: DirectPeers;
  discovery: PeerSource | undefined;
  subnets: SubnetNeeds;
  conversations: Pick<Conversations, "size" | "get" | "values">;
  targetPeers: number;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Keeps the node connected: to the direct peers always, and to as many others as are wanted. */
export class Connecting {
  readonly #parts: ConnectingParts;
  readonly #self: string;
  readonly #dialer: Dialer;
  readonly #directBackOff = new BackOff({ firstMs: 1_000, maxMs: 60_000 });
  readonly #backOff = new BackOff({ firstMs: 10_000, maxMs: 30 * 60_000 });
  #searchedAt = Number.NEGATIVE_INFINITY;
  #searchPauseMs = SEARCH_PAUSE_MS;
  #isDialDue = false;

  constructor(parts: ConnectingParts) {
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

  onFound({ peerId, enr, address, attnets, syncnets }: FoundPeer): void {
    if (peerId === this.#self) return;
    if (!this.#parts.known.get(peerId)) this.#searchPauseMs = SEARCH_PAUSE_MS;
    const peer = this.#parts.known.touch(peerId);
    peer.enr = enr;
    peer.record = { attnets, syncnets };
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

  /** Does not dial the peer for so long. Direct peers are left alone only as their failures demand. */
  leaveAlone(peerId: string, ms: number): void {
    if (!this.#parts.direct.has(peerId)) this.#backOff.postpone(peerId, this.#parts.timers.now() + ms);
  }

  /** Ends the dials that are under way. */
  close(): Promise<void> {
    return this.#dialer.close();
  }

  #dialDirect(now: number): void {
    const { direct, conversations, scores } = this.#parts;
    for (const { target, peerId } of direct.targets()) {
      if (peerId === this.#self) direct.remove(target.addresses);
      else if (peerId !== undefined && (conversations.get(peerId) || !scores.allows(peerId))) continue;
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
    const { known, scores, conversations, targetPeers } = this.#parts;
    const room = {
      present: conversations.size + this.#dialer.active,
      target: targetPeers,
      maximum: maxPeers(targetPeers),
      dials: this.#dialer.free,
      lacking,
    };
    if (room.dials <= 0 || room.present >= (lacking.size > 0 ? room.maximum : room.target)) return;
    const candidates = [...known.values()]
      .filter((peer) => this.#mayDial(peer, now))
      .map((peer) => ({ peerId: peer.id, score: scores.score(peer.id), subnets: subnetsOf(peer) }));
    for (const key of chooseDialled(candidates, room)) {
      this.#dialer.dial({ key, addresses: [...(known.get(key)?.addresses ?? [])] });
    }
  }

  #mayDial({ id, state, addresses, status }: KnownPeer, now: number): boolean {
    const { direct, conversations, scores, targetPeers } = this.#parts;
    // A node that was cut off should soon be back with those it knew.
    const isHurried = status !== null && conversations.size < targetPeers * FEW_PEERS;
    return (
      state === "disconnected" &&
      addresses.size > 0 &&
      id !== this.#self &&
      !direct.has(id) &&
      conversations.get(id) === undefined &&
      scores.allows(id) &&
      this.#backOff.isDue(id, now, isHurried ? HURRY_MS : undefined)
    );
  }

  #search(now: number, lacking: ReadonlySet<SubnetName>): void {
    const { discovery, conversations, targetPeers } = this.#parts;
    const isShort = conversations.size < targetPeers || lacking.size > 0;
    if (conversations.size === 0) this.#searchPauseMs = SEARCH_PAUSE_MS;
    if (!discovery || !isShort || now - this.#searchedAt < this.#searchPauseMs) return;
    this.#searchedAt = now;
    this.#searchPauseMs = Math.min(1.5 * this.#searchPauseMs, MAX_SEARCH_PAUSE_MS);
    discovery.search();
  }

  #lackingSubnets(): Set<SubnetName> {
    const { conversations, known, subnets } = this.#parts;
    const present = [...conversations.values()].flatMap(({ peerId }) => known.get(peerId) ?? []);
    const covered = present.map((peer) => ({ subnets: subnetsOf(peer) }));
    return lackingSubnets(countBySubnet(wantedSubnets(subnets), covered));
  }

  #succeeded({ key, addresses }: DialTarget, peerId: string): void {
    const { direct, known } = this.#parts;
    if (key !== peerId) {
      direct.identify(addresses, peerId);
      known.keep(peerId);
    }
    // The connection may be gone again by now.
    if (!this.#parts.conversations.get(peerId)) this.#setState(key, "disconnected");
  }

  #failed({ key }: DialTarget): void {
    const { known, timers } = this.#parts;
    const backOff = this.#backOffOf(key);
    backOff.fail(key, timers.now());
    this.#setState(key, "disconnected");
    if (known.get(key)?.status === null && backOff.failures(key) >= MAX_VAIN_DIALS) known.forget(key);
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
