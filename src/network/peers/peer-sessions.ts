import type { Epoch, fulu } from "@lodestar/types";
import type { Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerDirection } from "../network-view.ts";
import { RequestError } from "../reqresp/errors.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";
import { GOODBYE } from "./goodbye.ts";
import type { KnownPeers } from "./known-peers.ts";
import { irrelevance, type RelevanceChain } from "./relevance.ts";

/** The dialling side speaks first (phase0/p2p-interface.md, Status); a dialled node waits this long for it before it asks. */
const PATIENCE_MS = 5_000;
const HANDSHAKE_MS = 30_000;
const STATUS_INTERVAL_MS = 5 * 60_000;
/** Peers limit how often they answer. */
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
  /** Called when a peer turned out to be of our chain, told a new status, or is gone. */
  changed(): void;
  /** Ends the connection with a word of goodbye. */
  drop(peerId: string, reason: bigint, why: string): void;
}

interface PeerSession {
  readonly peerId: string;
  readonly direction: PeerDirection;
  readonly since: number;
  /** Whether the peer told a status that is of our chain. */
  relevant: boolean;
}

interface TrackedSession extends PeerSession {
  direction: PeerDirection;
  readonly ended: AbortController;
  /** Null until the peer told one. */
  statusAt: number | null;
  statusEpoch: Epoch;
  statusAskedAt: number;
  statusWanted: boolean;
  metadataAskedAt: number;
  metadataKnown: boolean;
  nextPingAt: number;
  missedPings: number;
  readonly asking: Set<"status" | "ping" | "metadata">;
}

/** What is said with each connected peer: status, then pings and metadata, again and again. */
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

  /** The peer may be connected already; then it is from now on by another connection. */
  begin(peerId: string, direction: PeerDirection): void {
    const known = this.#sessions.get(peerId);
    if (known) {
      known.direction = direction;
      // Whoever dialled asks first (phase0/p2p-interface.md, Status), and where both did each may wait for the other.
      if (direction === "outbound" && known.statusAt === null) this.#askStatus(known);
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
      asking: new Set(),
    };
    this.#sessions.set(peerId, session);
    if (direction === "outbound") this.#askStatus(session);
  }

  end(peerId: string): PeerSession | undefined {
    const session = this.#sessions.get(peerId);
    if (!session) return undefined;
    this.#sessions.delete(peerId);
    session.ended.abort(new Error("The peer is disconnected."));
    if (session.relevant) this.#parts.changed();
    return session;
  }

  /** Asks whatever is due. */
  tick(): void {
    const now = this.#parts.timers.now();
    for (const session of [...this.#sessions.values()]) this.#continue(session, now);
  }

  refreshStatus(peerId: string): void {
    const session = this.#sessions.get(peerId);
    if (!session) return;
    session.statusWanted = true;
    this.#continue(session, this.#parts.timers.now());
  }

  /** A peer told its status. */
  async onStatus(peerId: string, status: fulu.Status): Promise<void> {
    const { chain, known, timers } = this.#parts;
    const session = this.#sessions.get(peerId);
    if (!session) return;
    session.statusAt = timers.now();
    session.statusEpoch = chain.clock.currentEpoch;
    session.statusWanted = false;
    const objection = await irrelevance(status, chain);
    if (this.#sessions.get(peerId) !== session) return;
    known.touch(peerId).status = status;
    const wasRelevant = session.relevant;
    // Whoever drops it looks at what it was until now.
    if (objection !== undefined) this.#parts.drop(peerId, GOODBYE.irrelevantNetwork, objection);
    session.relevant = objection === undefined;
    if (wasRelevant || session.relevant) this.#parts.changed();
    if (session.relevant && !wasRelevant) this.#ping(session);
  }

  /** A peer told the number of its metadata. */
  onPing(peerId: string, metadataSeq: bigint): void {
    const session = this.#sessions.get(peerId);
    if (session) this.#onSequence(session, metadataSeq);
  }

  #continue(session: TrackedSession, now: number): void {
    if (session.statusAt === null) {
      if (now - session.since >= HANDSHAKE_MS) this.#parts.drop(session.peerId, GOODBYE.fault, "no status");
      else if (now - session.since >= PATIENCE_MS) this.#askStatus(session);
      return;
    }
    if (!session.relevant) return;
    const isOld =
      now - session.statusAt >= STATUS_INTERVAL_MS || session.statusEpoch < this.#parts.chain.clock.currentEpoch;
    if (session.statusWanted || isOld) this.#askStatus(session);
    if (now >= session.nextPingAt) this.#ping(session);
  }

  #askStatus(session: TrackedSession): void {
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
        if (!isBeaconNode) drop(session.peerId, GOODBYE.irrelevantNetwork, "no beacon node");
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
    const held = known.get(session.peerId)?.metadata;
    // What is held may be of an earlier connection, since when the peer may have begun to count anew.
    if (held && session.metadataKnown && sequence <= held.seqNumber) return;
    if (!session.relevant || timers.now() - session.metadataAskedAt < METADATA_PAUSE_MS) return;
    this.#ask(session, "metadata", async (signal) => {
      session.metadataAskedAt = timers.now();
      const metadata = await requests.metadata(session.peerId, signal);
      if (this.#sessions.get(session.peerId) !== session) return;
      known.touch(session.peerId).metadata = metadata;
      session.metadataKnown = true;
    });
  }

  /** One request of a kind at a time; its failure is the peer's, and the requests themselves have it scored. */
  #ask(
    session: TrackedSession,
    kind: "status" | "ping" | "metadata",
    request: (signal: AbortSignal) => Promise<void>,
    failed: (error: unknown) => void = () => {},
  ): void {
    if (session.asking.has(kind)) return;
    session.asking.add(kind);
    request(session.ended.signal)
      .catch((error: unknown) => {
        if (session.ended.signal.aborted) return;
        this.#parts.logger.debug("A peer did not answer", {
          peer: session.peerId,
          request: kind,
          error: String(error),
        });
        failed(error);
      })
      .finally(() => session.asking.delete(kind));
  }
}
