import type { Connection } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import type { Timers } from "../../async/timers.ts";
import type { GossipInternals } from "../gossip/pubsub.ts";
import { closeConnection, type Host } from "../libp2p/host.ts";

/** An older connection on which the peer has not answered by then is given up for its new one. */
const ANSWER_MS = 3_000;
/** Of libp2p. That the peer does not speak it is an answer, too. */
const PING_PROTOCOL = "/ipfs/ping/1.0.0";
/** By then everything on a connection that was closed is known to have ended. */
const SETTLING_MS = 10_000;

interface PeerConnectionsParts {
  host: Pick<Host, "getConnections">;
  gossip: Pick<GossipInternals, "streamsOutbound" | "onPeerConnected">;
  timers: Pick<Timers, "now" | "sleep">;
}

/**
 * The connections with a peer: one of each direction at most. Two nodes that dial each other at once have both, and neither is closed
 * here, because clients do not agree on the one that stays: some close the one that came later to them, so that none would be left if we
 * closed the other, and some take a peer for gone when either is closed. Whichever goes, the peer and its gossip stay with the other.
 */
export class PeerConnections {
  readonly #parts: PeerConnectionsParts;
  /** Until when, after a connection with a peer ended, its gossip is looked after. */
  readonly #settling = new Map<string, number>();

  constructor(parts: PeerConnectionsParts) {
    this.#parts = parts;
  }

  /**
   * Whether a new connection is one with the peer at once. When the peer has dialled this node already, it is closed, unless the
   * older one turns out to be dead: then that is closed, and the new one goes on with the peer.
   */
  admits(connection: Connection): boolean {
    const sameWay = this.#open(connection).filter(({ direction }) => direction === connection.direction);
    const [oldest] = sameWay;
    // Only those of peers are too many: this node does not dial whom it is connected with.
    if (connection.direction === "outbound" || oldest === undefined || oldest === connection) return true;
    void (sameWay.length > 2 ? closeConnection(connection) : this.#keepOne(oldest, connection));
    return false;
  }

  /** The connection that goes on with the peer after one has ended; undefined when that was the last. */
  leftAfter(ended: Connection): Connection | undefined {
    const left = this.#open(ended).find((connection) => connection !== ended);
    if (left) {
      const peerId = ended.remotePeer.toString();
      this.#settling.set(peerId, this.#parts.timers.now() + SETTLING_MS);
      this.#continueGossip(peerId);
    }
    return left;
  }

  /** Aborts the connections on which the peer does not answer a ping in time. */
  async abortDead(): Promise<void> {
    const open = this.#parts.host.getConnections().filter(({ status }) => status === "open");
    await Promise.all(
      open.map(async (connection) => {
        if (await this.#answers(connection)) return;
        connection.abort(new Error("The peer does not answer on this connection any more."));
      }),
    );
  }

  tick(): void {
    const now = this.#parts.timers.now();
    for (const [peerId, until] of this.#settling) {
      this.#continueGossip(peerId);
      if (now >= until) this.#settling.delete(peerId);
    }
  }

  /** The older one, if the peer, which may have been started anew, still answers on it. */
  async #keepOne(older: Connection, newer: Connection): Promise<void> {
    if (await this.#answers(older)) await closeConnection(newer);
    else older.abort(new Error("The peer has opened another connection, and does not answer on this one."));
  }

  async #answers(connection: Connection): Promise<boolean> {
    const over = new AbortController();
    const { signal } = over;
    const asked = connection.newStream(PING_PROTOCOL, { signal }).then(
      (stream) => {
        stream.abort(new Error("It is only asked whether the peer answers."));
        return true;
      },
      (error: unknown) => error instanceof Error && error.name === "UnsupportedProtocolError",
    );
    const late = this.#parts.timers.sleep(ANSWER_MS, signal).then(
      () => false,
      () => false,
    );
    try {
      return await Promise.race([asked, late]);
    } finally {
      over.abort();
    }
  }

  #open({ remotePeer }: Pick<Connection, "remotePeer">): Connection[] {
    return this.#parts.host.getConnections(remotePeer).filter(({ status }) => status === "open");
  }

  /** Gossip sends over the first connection that it was told of, and leaves it at that when another one stays. */
  #continueGossip(peerId: string): void {
    const { gossip } = this.#parts;
    if (gossip.streamsOutbound.get(peerId)?.rawStream.status === "open") return;
    const id = peerIdFromString(peerId);
    const [connection] = this.#open({ remotePeer: id });
    if (connection) gossip.onPeerConnected(id, connection);
  }
}
