import type { Timers } from "../async/timers.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { SyncTarget } from "./sync-target.ts";

export interface BatchPeersLimits {
  /** Backoff of a failed peer. Doubles with each failure. */
  backoffMs: number;
  maxBackoffMs: number;
  requestsPerPeer: number;
}

interface BatchPeersParts {
  peers: SyncPeers;
  target: SyncTarget;
  /** Restricts requests to this peer. */
  solePeer?: string;
  timers: Pick<Timers, "now">;
  limits: BatchPeersLimits;
}

interface Record {
  inFlight: number;
  failures: number;
  backoffUntil: number;
}

/**
 * Selects the peer for a batch. Preference: peers that claim the target, other peers, peers already tried for the
 * batch, and last peers that sent invalid blocks.
 */
export class BatchPeers {
  readonly #peers: SyncPeers;
  readonly #target: SyncTarget;
  readonly #solePeer: string | undefined;
  readonly #timers: Pick<Timers, "now">;
  readonly #limits: BatchPeersLimits;
  readonly #distrusted = new Set<string>();
  readonly #records = new Map<string, Record>();

  constructor({ peers, target, solePeer, timers, limits }: BatchPeersParts) {
    this.#peers = peers;
    this.#target = target;
    this.#solePeer = solePeer;
    this.#timers = timers;
    this.#limits = limits;
  }

  /** Returns null if the preferred peers are busy or in backoff. */
  pick(batch: Batch): string | null {
    const able = this.#able(batch);
    const best = Math.min(...able.map(({ peerId }) => this.#rank(peerId, batch)));
    const now = this.#timers.now();
    const free = able
      .filter(({ peerId }) => this.#rank(peerId, batch) === best)
      .map(({ peerId }) => ({ peerId, record: this.#record(peerId) }))
      .filter(({ record }) => record.inFlight < this.#limits.requestsPerPeer && record.backoffUntil <= now)
      .sort(
        (a, b) =>
          timesAsked(a, batch) - timesAsked(b, batch) ||
          a.record.inFlight - b.record.inFlight ||
          a.record.failures - b.record.failures,
      );
    return free[0]?.peerId ?? null;
  }

  /** Returns true if a trusted peer has not been tried for the batch yet. */
  hasUntriedPeer(batch: Batch): boolean {
    return this.#able(batch).some(({ peerId }) => this.#rank(peerId, batch) <= 1);
  }

  /** Returns true if a peer that claims the target has not been tried for the batch yet. */
  hasUntriedClaimant(batch: Batch): boolean {
    return this.#able(batch).some(({ peerId }) => this.#rank(peerId, batch) === 0);
  }

  /** Returns true if any peer can serve the batch, now or later. */
  hasPeer(batch: Batch): boolean {
    return this.#able(batch).length > 0;
  }

  /** Number of connected peers that claim the target. */
  get claimantCount(): number {
    return this.#peers.list().filter(({ peerId }) => this.#target.claimants.has(peerId)).length;
  }

  /** Milliseconds until the first backoff ends, or null if no peer is in backoff. */
  get msUntilRetry(): number | null {
    const now = this.#timers.now();
    const rests = [...this.#records.values()].map(({ backoffUntil }) => backoffUntil - now).filter((rest) => rest > 0);
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
    const rest = Math.min(this.#limits.backoffMs * 2 ** record.failures, this.#limits.maxBackoffMs);
    record.failures++;
    record.backoffUntil = this.#timers.now() + rest;
  }

  /** Marks a peer that sent invalid blocks. It is used only as a last resort. */
  distrust(peerId: string): void {
    this.#distrusted.add(peerId);
  }

  #able({ range }: Batch): SyncPeer[] {
    return this.#peers
      .list()
      .filter(({ peerId }) => this.#solePeer === undefined || peerId === this.#solePeer)
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
    const record = { inFlight: 0, failures: 0, backoffUntil: 0 };
    this.#records.set(peerId, record);
    return record;
  }
}

const timesAsked = ({ peerId }: { peerId: string }, { asked }: Batch) => asked.get(peerId) ?? 0;
