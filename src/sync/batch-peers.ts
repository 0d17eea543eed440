import type { Timers } from "../async/timers.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { SyncTarget } from "./sync-target.ts";

export interface BatchPeersLimits {
  /** Backoff after a peer's first failure. Doubles with each further failure. */
  backoffMs: number;
  maxBackoffMs: number;
  requestsPerPeer: number;
}

interface BatchPeersParts {
  peers: SyncPeers;
  target: SyncTarget;
  /** If set, only this peer is used. */
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
 * Selects the peer for a batch, in this order: peers that claim to have the target, other peers, peers already tried
 * for the batch, and peers that have sent invalid blocks.
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
    const eligible = this.#eligible(batch);
    const best = Math.min(...eligible.map(({ peerId }) => this.#rank(peerId, batch)));
    const now = this.#timers.now();
    const free = eligible
      .filter(({ peerId }) => this.#rank(peerId, batch) === best)
      .map(({ peerId }) => ({ peerId, record: this.#record(peerId) }))
      .filter(({ record }) => record.inFlight < this.#limits.requestsPerPeer && record.backoffUntil <= now)
      .sort(
        (a, b) =>
          attemptsOf(a, batch) - attemptsOf(b, batch) ||
          a.record.inFlight - b.record.inFlight ||
          a.record.failures - b.record.failures,
      );
    return free[0]?.peerId ?? null;
  }

  /** Returns true if a trusted peer has not been tried for the batch yet. */
  hasUntriedPeer(batch: Batch): boolean {
    return this.#eligible(batch).some(({ peerId }) => this.#rank(peerId, batch) <= 1);
  }

  /** Returns true if a peer that claims to have the target has not been tried for the batch yet. */
  hasUntriedClaimant(batch: Batch): boolean {
    return this.#eligible(batch).some(({ peerId }) => this.#rank(peerId, batch) === 0);
  }

  /** Returns true if any peer can serve the batch, now or later. */
  hasPeer(batch: Batch): boolean {
    return this.#eligible(batch).length > 0;
  }

  /** Number of connected peers that claim to have the target. */
  get claimantCount(): number {
    return this.#peers.list().filter(({ peerId }) => this.#target.claimants.has(peerId)).length;
  }

  /** Milliseconds until the first backoff ends, or null if no peer is in backoff. */
  get msUntilRetry(): number | null {
    const now = this.#timers.now();
    const waits = [...this.#records.values()].map(({ backoffUntil }) => backoffUntil - now).filter((wait) => wait > 0);
    return waits.length === 0 ? null : Math.min(...waits);
  }

  begin(peerId: string): void {
    this.#record(peerId).inFlight++;
  }

  end(peerId: string, succeeded: boolean): void {
    const record = this.#record(peerId);
    record.inFlight--;
    if (succeeded) record.failures = 0;
    else this.backOff(peerId);
  }

  backOff(peerId: string): void {
    const record = this.#record(peerId);
    const delay = Math.min(this.#limits.backoffMs * 2 ** record.failures, this.#limits.maxBackoffMs);
    record.failures++;
    record.backoffUntil = this.#timers.now() + delay;
  }

  /** Marks a peer as having sent invalid blocks. It is used only as a last resort. */
  distrust(peerId: string): void {
    this.#distrusted.add(peerId);
  }

  #eligible({ range }: Batch): SyncPeer[] {
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

  #rank(peerId: string, { attempts }: Batch): number {
    if (this.#distrusted.has(peerId)) return attempts.has(peerId) ? 4 : 3;
    if (attempts.has(peerId)) return 2;
    return this.#target.claimants.has(peerId) ? 0 : 1;
  }

  #record(peerId: string): Record {
    const existing = this.#records.get(peerId);
    if (existing) return existing;
    const record = { inFlight: 0, failures: 0, backoffUntil: 0 };
    this.#records.set(peerId, record);
    return record;
  }
}

const attemptsOf = ({ peerId }: { peerId: string }, { attempts }: Batch) => attempts.get(peerId) ?? 0;
