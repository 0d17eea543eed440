import type { Connection } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import type { Timers } from "../../async/timers.ts";
import type { GossipInternals } from "../gossip/pubsub.ts";
import { closeConnection, type Host } from "../libp2p/host.ts";

/** Ping timeout after which an older connection is replaced by the same peer's new connection. */
const ANSWER_MS = 3_000;
/** libp2p's ping. An "unsupported" response proves liveness as well. */
const PING_PROTOCOL = "/ipfs/ping/1.0.0";
/** Time after which the library has finished handling the end of a connection. */
const SETTLING_MS = 10_000;

interface PeerConnectionsParts {
  host: Pick<Host, "getConnections">;
  gossip: Pick<GossipInternals, "streamsOutbound" | "onPeerConnected">;
  timers: Pick<Timers, "now" | "sleep">;
}

/**
 * Keeps at most one connection per direction with each peer. If both sides dial at the same time, there are two
 * connections. Neither is closed here, because clients disagree about which one to keep. When one of them ends, the
 * session and gossip continue on the other.
 */
export class PeerConnections {
  readonly #parts: PeerConnectionsParts;
  /** For peers that lost one of their connections, the time until which their gossip streams are restored. */
  readonly #settling = new Map<string, number>();

  constructor(parts: PeerConnectionsParts) {
    this.#parts = parts;
  }

  /**
   * Returns true if the connection can be used immediately. A second inbound connection is closed if the older one is
   * alive. Otherwise the older one is aborted.
   */
  admits(connection: Connection): boolean {
    const sameDirection = this.#open(connection).filter(({ direction }) => direction === connection.direction);
    const [oldest] = sameDirection;
    // There are no outbound duplicates, because this node does not dial connected peers.
    if (connection.direction === "outbound" || oldest === undefined || oldest === connection) return true;
    void (sameDirection.length > 2 ? closeConnection(connection) : this.#keepOne(oldest, connection));
    return false;
  }

  /** Returns the peer's remaining connection after one has ended, or undefined if there is none. */
  remainingAfter(ended: Connection): Connection | undefined {
    const remaining = this.#open(ended).find((connection) => connection !== ended);
    if (remaining) {
      const peerId = ended.remotePeer.toString();
      this.#settling.set(peerId, this.#parts.timers.now() + SETTLING_MS);
      this.#restoreGossip(peerId);
    }
    return remaining;
  }

  /** Aborts connections on which the peer does not answer a ping in time. */
  async abortDead(): Promise<void> {
    const open = this.#parts.host.getConnections().filter(({ status }) => status === "open");
    await Promise.all(
      open.map(async (connection) => {
        if (await this.#answers(connection)) return;
        connection.abort(new Error("The peer no longer answers on this connection."));
      }),
    );
  }

  tick(): void {
    const now = this.#parts.timers.now();
    for (const [peerId, until] of this.#settling) {
      this.#restoreGossip(peerId);
      if (now >= until) this.#settling.delete(peerId);
    }
  }

  /** Keeps the older connection if the peer still answers on it. The peer may have been restarted. */
  async #keepOne(older: Connection, newer: Connection): Promise<void> {
    if (await this.#answers(older)) await closeConnection(newer);
    else older.abort(new Error("The peer opened a new connection and does not answer on this one."));
  }

  async #answers(connection: Connection): Promise<boolean> {
    const finished = new AbortController();
    const { signal } = finished;
    const answered = connection.newStream(PING_PROTOCOL, { signal }).then(
      (stream) => {
        stream.abort(new Error("Liveness check finished."));
        return true;
      },
      (error: unknown) => error instanceof Error && error.name === "UnsupportedProtocolError",
    );
    const timedOut = this.#parts.timers.sleep(ANSWER_MS, signal).then(
      () => false,
      () => false,
    );
    try {
      return await Promise.race([answered, timedOut]);
    } finally {
      finished.abort();
    }
  }

  #open({ remotePeer }: Pick<Connection, "remotePeer">): Connection[] {
    return this.#parts.host.getConnections(remotePeer).filter(({ status }) => status === "open");
  }

  /** Reopens the gossip stream, because gossipsub only uses the first connection it was notified of. */
  #restoreGossip(peerId: string): void {
    const { gossip } = this.#parts;
    if (gossip.streamsOutbound.get(peerId)?.rawStream.status === "open") return;
    const id = peerIdFromString(peerId);
    const [connection] = this.#open({ remotePeer: id });
    if (connection) gossip.onPeerConnected(id, connection);
  }
}
