import type { Timers } from "../../async/timers.ts";
import type { SyncPeer, SyncPeers } from "../../network/peers/sync-peers.ts";

interface HistoryPeersParts {
  peers: Pick<SyncPeers, "list" | "penalize">;
  timers: Pick<Timers, "now">;
  restMs: number;
}

/** Whom to ask for history: those who were asked least lately, and not those who could not give it a short while ago. */
export class HistoryPeers {
  readonly #parts: HistoryPeersParts;
  readonly #restsUntil = new Map<string, number>();
  /** In the order in which they were asked last. */
  readonly #asked = new Set<string>();

  constructor(parts: HistoryPeersParts) {
    this.#parts = parts;
  }

  /** The next to be asked of those for whom the condition holds; null when there is none. */
  pick(isFit: (peer: SyncPeer) => boolean): SyncPeer | null {
    const now = this.#parts.timers.now();
    const able = this.#parts.peers
      .list()
      .filter((peer) => (this.#restsUntil.get(peer.peerId) ?? 0) <= now && isFit(peer));
    const asked = [...this.#asked];
    const [next] = able.sort((a, b) => asked.indexOf(a.peerId) - asked.indexOf(b.peerId));
    if (next) this.#note(next.peerId);
    return next ?? null;
  }

  /** What the peer gives; null when the request fails. Rejects when the signal is aborted. */
  async answerOf<T>(peerId: string, request: Promise<T>, signal: AbortSignal): Promise<T | null> {
    try {
      return await request;
    } catch {
      signal.throwIfAborted();
      this.rest(peerId);
      return null;
    }
  }

  /** The peer does not have what was asked for, or does not answer. */
  rest(peerId: string): void {
    this.#restsUntil.set(peerId, this.#parts.timers.now() + this.#parts.restMs);
  }

  /** The peer is not asked again while it is connected. */
  dismiss(peerId: string): void {
    this.#restsUntil.set(peerId, Number.POSITIVE_INFINITY);
  }

  /** The peer gave what cannot be right, or withheld something. */
  blame(peerId: string, severity: "severe" | "moderate", reason: string): void {
    this.#parts.peers.penalize(peerId, severity, reason);
    this.rest(peerId);
  }

  #note(peerId: string): void {
    this.#asked.delete(peerId);
    this.#asked.add(peerId);
    const present = new Set(this.#parts.peers.list().map((peer) => peer.peerId));
    for (const known of this.#asked) if (!present.has(known)) this.#asked.delete(known);
    for (const known of this.#restsUntil.keys()) if (!present.has(known)) this.#restsUntil.delete(known);
  }
}
