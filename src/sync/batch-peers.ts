import type { Timers } from "../async/timers.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { SyncTarget } from "./sync-target.ts";

export interface BatchPeersLimits {
  /** A peer that failed rests this long, twice as long the next time, and so on. */
  restMs: number;
  maxRestMs: number;
  requestsPerPeer: number;
}

interface BatchPeersParts {
  peers: SyncPeers;
  target: SyncTarget;
  /** The only peer to ask, if given. */
  guide?: string;
  timers: Pick<Timers, "now">;
  limits: BatchPeersLimits;
}

interface Record {
  inFlight: number;
  failures: number;
  restsUntil: number;
}

/**
 * Who is asked for which batch: those who claim the target before others, those who were not asked yet before those who
 * were, and last those who gave something wrong.
 */
export class BatchPeers {
  readonly #peers: SyncPeers;
  readonly #target: SyncTarget;
  readonly #guide: string | undefined;
  readonly #timers: Pick<Timers, "now">;
  readonly #limits: BatchPeersLimits;
  readonly #distrusted = new Set<string>();
  readonly #records = new Map<string, Record>();

  constructor({ peers, target, guide, timers, limits }: BatchPeersParts) {
    this.#peers = peers;
    this.#target = target;
    this.#guide = guide;
    this.#timers = timers;
    this.#limits = limits;
  }

  /** Null when whoever should be asked next is at work or rests. */
  pick(batch: Batch): string | null {
    const able = this.#able(batch);
    const best = Math.min(...able.map(({ peerId }) => this.#rank(peerId, batch)));
    const now = this.#timers.now();
    const free = able
      .filter(({ peerId }) => this.#rank(peerId, batch) === best)
      .map(({ peerId }) => ({ peerId, record: this.#record(peerId) }))
      .filter(({ record }) => record.inFlight < this.#limits.requestsPerPeer && record.restsUntil <= now)
      .sort(
        (a, b) =>
          timesAsked(a, batch) - timesAsked(b, batch) ||
          a.record.inFlight - b.record.inFlight ||
          a.record.failures - b.record.failures,
      );
    return free[0]?.peerId ?? null;
  }

  /** Whether a peer could be asked that was not yet. */
  hasFresh(batch: Batch): boolean {
    return this.#able(batch).some(({ peerId }) => this.#rank(peerId, batch) <= 1);
  }

  /** Whether one of those who claim the target was not asked yet. */
  hasFreshClaimant(batch: Batch): boolean {
    return this.#able(batch).some(({ peerId }) => this.#rank(peerId, batch) === 0);
  }

  /** Whether anybody could be asked, sooner or later. */
  hasAny(batch: Batch): boolean {
    return this.#able(batch).length > 0;
  }

  /** How many of the peers that claim the target are there. */
  get claimantCount(): number {
    return this.#peers.list().filter(({ peerId }) => this.#target.claimants.has(peerId)).length;
  }

  /** Milliseconds until the first resting peer can be asked again; null when none rests. */
  get untilRested(): number | null {
    const now = this.#timers.now();
    const rests = [...this.#records.values()].map(({ restsUntil }) => restsUntil - now).filter((rest) => rest > 0);
    return rests.length === 0 ? null : Math.min(...rests);
  }

  begin(peerId: string): void {
    this.#record(peerId).inFlight++;
  }

  end(peerId: string, succeeded: boolean): void {
    const record = this.#record(peerId);
    record.inFlight--;
    if (succeeded) record.failures = 0;
    else this.rest(peerId);
  }

  rest(peerId: string): void {
    const record = this.#record(peerId);
    const rest = Math.min(this.#limits.restMs * 2 ** record.failures, this.#limits.maxRestMs);
    record.failures++;
    record.restsUntil = this.#timers.now() + rest;
  }

  /** The peer gave something wrong; it is asked only when nobody else is there. */
  distrust(peerId: string): void {
    this.#distrusted.add(peerId);
  }

  #able({ range }: Batch): SyncPeer[] {
    return this.#peers
      .list()
      .filter(({ peerId }) => this.#guide === undefined || peerId === this.#guide)
      .filter(
        ({ peerId, status }) =>
          status.earliestAvailableSlot <= range.startSlot && this.#reaches(peerId, status, range.startSlot),
      );
  }

  #reaches(peerId: string, { headSlot }: SyncPeer["status"], slot: number): boolean {
    return headSlot >= slot || this.#target.claimants.has(peerId);
  }

  #rank(peerId: string, { asked }: Batch): number {
    if (this.#distrusted.has(peerId)) return asked.has(peerId) ? 4 : 3;
    if (asked.has(peerId)) return 2;
    return this.#target.claimants.has(peerId) ? 0 : 1;
  }

  #record(peerId: string): Record {
    const known = this.#records.get(peerId);
    if (known) return known;
    const record = { inFlight: 0, failures: 0, restsUntil: 0 };
    this.#records.set(peerId, record);
    return record;
  }
}

const timesAsked = ({ peerId }: { peerId: string }, { asked }: Batch) => asked.get(peerId) ?? 0;
