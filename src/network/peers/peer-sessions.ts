import type { Epoch, fulu } from "@lodestar/types";
import type { Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerDirection } from "../network-view.ts";
import { RequestError } from "../reqresp/errors.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";
import { GOODBYE } from "./goodbye.ts";
import type { KnownPeers } from "./known-peers.ts";
import { irrelevanceReason, type RelevanceChain } from "./peer-relevance.ts";

/**
 * The dialing side sends its status first (phase0/p2p-interface.md, Status). A dialed node waits this long before
 * requesting the status itself.
 */
const STATUS_GRACE_MS = 5_000;
const HANDSHAKE_MS = 30_000;
const STATUS_INTERVAL_MS = 5 * 60_000;
/** Minimum intervals, because peers rate-limit these requests. */
const STATUS_PAUSE_MS = 4_000;
const METADATA_PAUSE_MS = 4_000;
const PING_INTERVAL_MS: Record<PeerDirection, number> = { inbound: 15_000, outbound: 20_000 };
const PING_RETRY_MS = 5_000;
const MAX_MISSED_PINGS = 3;

export type PeerSessionsChain = RelevanceChain & { clock: Pick<BeaconChain["clock"], "currentEpoch"> };

interface PeerSessionsParts {
  requests: Pick<BeaconRequests, "status" | "ping" | "metadata">;
  chain: PeerSessionsChain;
  known: KnownPeers;
  timers: Pick<Timers, "now">;
  logger: Logger;
  /** Called when a peer becomes relevant, updates its status, or disconnects. */
  changed(): void;
  /** Disconnects the peer with a goodbye. */
  drop(peerId: string, reason: bigint, why: string): void;
}

interface PeerSession {
  readonly peerId: string;
  readonly direction: PeerDirection;
  readonly since: number;
  /** True if the peer's status is compatible with our chain. */
  relevant: boolean;
}

interface TrackedSession extends PeerSession {
  direction: PeerDirection;
  readonly ended: AbortController;
  /** When the last status was received. Null before the first one. */
  statusAt: number | null;
  statusEpoch: Epoch;
  statusAskedAt: number;
  statusWanted: boolean;
  metadataAskedAt: number;
  metadataKnown: boolean;
  nextPingAt: number;
  missedPings: number;
  readonly inFlight: Set<"status" | "ping" | "metadata">;
}

/** Maintains a session with each connected peer: status handshake, pings and metadata. */
export class PeerSessions {
  readonly #parts: PeerSessionsParts;
  readonly #sessions = new Map<string, TrackedSession>();

  constructor(parts: PeerSessionsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(peerId: string): PeerSession | undefined {
    return this.#sessions.get(peerId);
  }

  values(): IterableIterator<PeerSession> {
    return this.#sessions.values();
  }

  /** Starts a session, or moves the existing one to a new connection. */
  begin(peerId: string, direction: PeerDirection): void {
    const existing = this.#sessions.get(peerId);
    if (existing) {
      existing.direction = direction;
      // The dialer sends the first request (phase0/p2p-interface.md, Status). If both sides dialed, each may be waiting
      // for the other.
      if (direction === "outbound" && existing.statusAt === null) this.#requestStatus(existing);
      return;
    }
    const now = this.#parts.timers.now();
    const session: TrackedSession = {
      peerId,
      direction,
      since: now,
      relevant: false,
      ended: new AbortController(),
      statusAt: null,
      statusEpoch: 0,
      statusAskedAt: Number.NEGATIVE_INFINITY,
      statusWanted: false,
      metadataAskedAt: Number.NEGATIVE_INFINITY,
      metadataKnown: false,
      nextPingAt: now,
      missedPings: 0,
      inFlight: new Set(),
    };
    this.#sessions.set(peerId, session);
    if (direction === "outbound") this.#requestStatus(session);
  }

  end(peerId: string): PeerSession | undefined {
    const session = this.#sessions.get(peerId);
    if (!session) return undefined;
    this.#sessions.delete(peerId);
    session.ended.abort(new Error("The peer has disconnected."));
    if (session.relevant) this.#parts.changed();
    return session;
  }

  /** Sends all requests that are due. */
  tick(): void {
    const now = this.#parts.timers.now();
    for (const session of [...this.#sessions.values()]) this.#advance(session, now);
  }

  refreshStatus(peerId: string): void {
    const session = this.#sessions.get(peerId);
    if (!session) return;
    session.statusWanted = true;
    this.#advance(session, this.#parts.timers.now());
  }

  /** Called with a status sent or returned by the peer. */
  async onStatus(peerId: string, status: fulu.Status): Promise<void> {
    const { chain, known, timers } = this.#parts;
    const session = this.#sessions.get(peerId);
    if (!session) return;
    session.statusAt = timers.now();
    session.statusEpoch = chain.clock.currentEpoch;
    session.statusWanted = false;
    const objection = await irrelevanceReason(status, chain);
    if (this.#sessions.get(peerId) !== session) return;
    known.touch(peerId).status = status;
    const wasRelevant = session.relevant;
    // `drop` needs the previous relevance.
    if (objection !== undefined) this.#parts.drop(peerId, GOODBYE.irrelevantNetwork, objection);
    session.relevant = objection === undefined;
    if (wasRelevant || session.relevant) this.#parts.changed();
    if (session.relevant && !wasRelevant) this.#ping(session);
  }

  /** Called with the peer's metadata sequence number. */
  onPing(peerId: string, metadataSeq: bigint): void {
    const session = this.#sessions.get(peerId);
    if (session) this.#onSequence(session, metadataSeq);
  }

  #advance(session: TrackedSession, now: number): void {
    if (session.statusAt === null) {
      if (now - session.since >= HANDSHAKE_MS) this.#parts.drop(session.peerId, GOODBYE.fault, "no status");
      else if (now - session.since >= STATUS_GRACE_MS) this.#requestStatus(session);
      return;
    }
    if (!session.relevant) return;
    const isOld =
      now - session.statusAt >= STATUS_INTERVAL_MS || session.statusEpoch < this.#parts.chain.clock.currentEpoch;
    if (session.statusWanted || isOld) this.#requestStatus(session);
    if (now >= session.nextPingAt) this.#ping(session);
  }

  #requestStatus(session: TrackedSession): void {
    const { requests, timers, drop } = this.#parts;
    if (timers.now() - session.statusAskedAt < STATUS_PAUSE_MS) return;
    this.#ask(
      session,
      "status",
      async (signal) => {
        session.statusAskedAt = timers.now();
        await this.onStatus(session.peerId, await requests.status(session.peerId, signal));
      },
      (error) => {
        const isBeaconNode = !(error instanceof RequestError && error.failure === "unsupported");
        if (!isBeaconNode) drop(session.peerId, GOODBYE.irrelevantNetwork, "not a beacon node");
      },
    );
  }

  #ping(session: TrackedSession): void {
    const { requests, timers, drop } = this.#parts;
    this.#ask(
      session,
      "ping",
      async (signal) => {
        const sequence = await requests.ping(session.peerId, signal);
        session.missedPings = 0;
        session.nextPingAt = timers.now() + PING_INTERVAL_MS[session.direction];
        this.#onSequence(session, sequence);
      },
      () => {
        session.missedPings++;
        session.nextPingAt = timers.now() + PING_RETRY_MS;
        if (session.missedPings >= MAX_MISSED_PINGS) drop(session.peerId, GOODBYE.fault, "no answer to pings");
      },
    );
  }

  #onSequence(session: TrackedSession, sequence: bigint): void {
    const { requests, timers, known } = this.#parts;
    const metadata = known.get(session.peerId)?.metadata;
    // Stored metadata may come from an earlier connection. Since then, a restart may have reset the peer's sequence
    // numbers.
    if (metadata && session.metadataKnown && sequence <= metadata.seqNumber) return;
    if (!session.relevant || timers.now() - session.metadataAskedAt < METADATA_PAUSE_MS) return;
    this.#ask(session, "metadata", async (signal) => {
      session.metadataAskedAt = timers.now();
      const metadata = await requests.metadata(session.peerId, signal);
      if (this.#sessions.get(session.peerId) !== session) return;
      known.touch(session.peerId).metadata = metadata;
      session.metadataKnown = true;
    });
  }

  /**
   * Sends a request unless one of the same kind is in flight. Failures have already been penalized by the request
   * client.
   */
  #ask(
    session: TrackedSession,
    kind: "status" | "ping" | "metadata",
    request: (signal: AbortSignal) => Promise<void>,
    failed: (error: unknown) => void = () => {},
  ): void {
    if (session.inFlight.has(kind)) return;
    session.inFlight.add(kind);
    request(session.ended.signal)
      .catch((error: unknown) => {
        if (session.ended.signal.aborted) return;
        this.#parts.logger.debug("Peer request failed", {
          peer: session.peerId,
          request: kind,
          error: String(error),
        });
        failed(error);
      })
      .finally(() => session.inFlight.delete(kind));
  }
}
