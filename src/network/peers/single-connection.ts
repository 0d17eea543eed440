import type { Connection } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import type { Timers } from "../../timers.ts";
import type { GossipInternals } from "../gossip/pubsub.ts";
import { closeConnection, type Host } from "../libp2p/host.ts";

/** By then everything on a connection that was closed is known to have ended. */
const SETTLING_MS = 10_000;

interface SingleConnectionParts {
  host: Pick<Host, "peerId" | "getConnections">;
  gossip: Pick<GossipInternals, "streamsOutbound" | "onPeerConnected">;
  timers: Pick<Timers, "now">;
}

/** Two nodes may dial each other at once. Of the connections with one peer a single one stays, and gossip goes on over it. */
export class SingleConnection {
  readonly #parts: SingleConnectionParts;
  readonly #self: string;
  /** Until when, after connections of a peer were closed, its gossip is looked after. */
  readonly #settling = new Map<string, number>();

  constructor(parts: SingleConnectionParts) {
    this.#parts = parts;
    this.#self = parts.host.peerId.toString();
  }

  /** Closes all connections with the peer but one; whether that one is the given connection. */
  keeps(connection: Connection): boolean {
    const { host, timers } = this.#parts;
    const peerId = connection.remotePeer.toString();
    const open = host.getConnections(connection.remotePeer).filter(({ status }) => status === "open");
    const kept = keptConnection(open, this.#self, peerId);
    for (const surplus of open) {
      if (surplus === kept) continue;
      this.#settling.set(peerId, timers.now() + SETTLING_MS);
      void closeConnection(surplus).then(() => this.#continueGossip(peerId));
    }
    return kept === connection;
  }

  tick(): void {
    const now = this.#parts.timers.now();
    for (const [peerId, until] of this.#settling) {
      this.#continueGossip(peerId);
      if (now >= until) this.#settling.delete(peerId);
    }
  }

  /** Gossip sends over the first connection that it was told of, and leaves it at that when another one stays. */
  #continueGossip(peerId: string): void {
    const { host, gossip } = this.#parts;
    if (gossip.streamsOutbound.get(peerId)?.rawStream.status === "open") return;
    const id = peerIdFromString(peerId);
    const connection = host.getConnections(id).find(({ status }) => status === "open");
    if (connection) gossip.onPeerConnected(id, connection);
  }
}

/**
 * The connection that was dialled by the node with the lower id, so that both ends keep the same one; of several the oldest,
 * which comes first.
 */
export function keptConnection<C extends Pick<Connection, "direction">>(
  connections: readonly C[],
  self: string,
  peer: string,
): C | undefined {
  const preferred = self < peer ? "outbound" : "inbound";
  return connections.find(({ direction }) => direction === preferred) ?? connections[0];
}
