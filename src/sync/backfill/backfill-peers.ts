import type { Timers } from "../../async/timers.ts";
import type { SyncPeer, SyncPeers } from "../../network/peers/sync-peers.ts";

interface BackfillPeersParts {
  peers: Pick<SyncPeers, "list" | "penalize">;
  timers: Pick<Timers, "now">;
  backoffMs: number;
}

/** Selects peers for backfill requests: least recently used first, with a backoff after failures. */
export class BackfillPeers {
  readonly #parts: BackfillPeersParts;
  readonly #backoffUntil = new Map<string, number>();
  /** Least recently used first. */
  readonly #lastUsed = new Set<string>();

  constructor(parts: BackfillPeersParts) {
    this.#parts = parts;
  }

  /** Returns the next eligible peer, or null. */
  pick(isFit: (peer: SyncPeer) => boolean): SyncPeer | null {
    const now = this.#parts.timers.now();
    const eligible = this.#parts.peers
      .list()
      .filter((peer) => (this.#backoffUntil.get(peer.peerId) ?? 0) <= now && isFit(peer));
    const order = [...this.#lastUsed];
    const [next] = eligible.sort((a, b) => order.indexOf(a.peerId) - order.indexOf(b.peerId));
    if (next) this.#note(next.peerId);
    return next ?? null;
  }

  /**
   * Awaits a request. Returns null if the request fails, after putting the peer into backoff. Rejects if the signal is
   * aborted.
   */
  async responseOf<T>(peerId: string, request: Promise<T>, signal: AbortSignal): Promise<T | null> {
    try {
      return await request;
    } catch {
      signal.throwIfAborted();
      this.backOff(peerId);
      return null;
    }
  }

  /** Puts a peer that failed or lacks the data into backoff. */
  backOff(peerId: string): void {
    this.#backoffUntil.set(peerId, this.#parts.timers.now() + this.#parts.backoffMs);
  }

  /** Excludes the peer until it reconnects. */
  dismiss(peerId: string): void {
    this.#backoffUntil.set(peerId, Number.POSITIVE_INFINITY);
  }

  /** Penalizes the peer for sending invalid data or withholding data. */
  blame(peerId: string, severity: "severe" | "moderate", reason: string): void {
    this.#parts.peers.penalize(peerId, severity, reason);
    this.backOff(peerId);
  }

  #note(peerId: string): void {
    this.#lastUsed.delete(peerId);
    this.#lastUsed.add(peerId);
    const present = new Set(this.#parts.peers.list().map((peer) => peer.peerId));
    for (const id of this.#lastUsed) if (!present.has(id)) this.#lastUsed.delete(id);
    for (const id of this.#backoffUntil.keys()) if (!present.has(id)) this.#backoffUntil.delete(id);
  }
}
