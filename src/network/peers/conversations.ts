import type { Epoch, fulu } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { PeerDirection } from "../network-view.ts";
import { RequestError } from "../reqresp/errors.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";
import { GOODBYE } from "./goodbye-reasons.ts";
import type { KnownPeers } from "./known-peers.ts";
import { irrelevance, type RelevanceChain } from "./relevance.ts";
import type { Timers } from "./timers.ts";

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

export type ConversationsChain = RelevanceChain & { clock: Pick<BeaconChain["clock"], "currentEpoch"> };

export interface ConversationsParts {
  requests: Pick<BeaconRequests, "status" | "ping" | "metadata">;
  chain: ConversationsChain;
  known: KnownPeers;
  timers: Pick<Timers, "now">;
  logger: Logger;
  /** Called when a peer turned out to be of our chain, told a new status, or is gone. */
  changed(): void;
  /** Ends the connection with a word of goodbye. */
  drop(peerId: string, reason: bigint, why: string): void;
}

export interface Conversation {
  readonly peerId: string;
  readonly direction: PeerDirection;
  readonly since: number;
  /** Whether the peer told a status that is of our chain. */
  relevant: boolean;
}

interface Talk extends Conversation {
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
export class Conversations {
  readonly #parts: ConversationsParts;
  readonly #talks = new Map<string, Talk>();

  constructor(parts: ConversationsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#talks.size;
  }

  get(peerId: string): Conversation | undefined {
    return this.#talks.get(peerId);
  }

  values(): IterableIterator<Conversation> {
    return this.#talks.values();
  }

  begin(peerId: string, direction: PeerDirection): void {
    if (this.#talks.has(peerId)) return;
    const now = this.#parts.timers.now();
    const talk: Talk = {
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
    this.#talks.set(peerId, talk);
    if (direction === "outbound") this.#askStatus(talk);
  }

  end(peerId: string): Conversation | undefined {
    const talk = this.#talks.get(peerId);
    if (!talk) return undefined;
    this.#talks.delete(peerId);
    talk.ended.abort(new Error("The peer is disconnected."));
    if (talk.relevant) this.#parts.changed();
    return talk;
  }

  /** Asks whatever is due. */
  tick(): void {
    const now = this.#parts.timers.now();
    for (const talk of [...this.#talks.values()]) this.#continue(talk, now);
  }

  refreshStatus(peerId: string): void {
    const talk = this.#talks.get(peerId);
    if (!talk) return;
    talk.statusWanted = true;
    this.#continue(talk, this.#parts.timers.now());
  }

  /** A peer told its status. */
  async onStatus(peerId: string, status: fulu.Status): Promise<void> {
    const { chain, known, timers } = this.#parts;
    const talk = this.#talks.get(peerId);
    if (!talk) return;
    talk.statusAt = timers.now();
    talk.statusEpoch = chain.clock.currentEpoch;
    talk.statusWanted = false;
    const objection = await irrelevance(status, chain);
    if (this.#talks.get(peerId) !== talk) return;
    known.touch(peerId).status = status;
    const wasRelevant = talk.relevant;
    talk.relevant = objection === undefined;
    if (objection !== undefined) this.#parts.drop(peerId, GOODBYE.irrelevantNetwork, objection);
    if (wasRelevant || talk.relevant) this.#parts.changed();
    if (talk.relevant && !wasRelevant) this.#ping(talk);
  }

  /** A peer told the number of its metadata. */
  onPing(peerId: string, metadataSeq: bigint): void {
    const talk = this.#talks.get(peerId);
    if (talk) this.#onSequence(talk, metadataSeq);
  }

  #continue(talk: Talk, now: number): void {
    if (talk.statusAt === null) {
      if (now - talk.since >= HANDSHAKE_MS) this.#parts.drop(talk.peerId, GOODBYE.fault, "no status");
      else if (now - talk.since >= PATIENCE_MS) this.#askStatus(talk);
      return;
    }
    if (!talk.relevant) return;
    const isOld = now - talk.statusAt >= STATUS_INTERVAL_MS || talk.statusEpoch < this.#parts.chain.clock.currentEpoch;
    if (talk.statusWanted || isOld) this.#askStatus(talk);
    if (now >= talk.nextPingAt) this.#ping(talk);
  }

  #askStatus(talk: Talk): void {
    const { requests, timers, drop } = this.#parts;
    if (timers.now() - talk.statusAskedAt < STATUS_PAUSE_MS) return;
    this.#ask(
      talk,
      "status",
      async (signal) => {
        talk.statusAskedAt = timers.now();
        await this.onStatus(talk.peerId, await requests.status(talk.peerId, signal));
      },
      (error) => {
        const isBeaconNode = !(error instanceof RequestError && error.failure === "unsupported");
        if (!isBeaconNode) drop(talk.peerId, GOODBYE.irrelevantNetwork, "no beacon node");
      },
    );
  }

  #ping(talk: Talk): void {
    const { requests, timers, drop } = this.#parts;
    this.#ask(
      talk,
      "ping",
      async (signal) => {
        const sequence = await requests.ping(talk.peerId, signal);
        talk.missedPings = 0;
        talk.nextPingAt = timers.now() + PING_INTERVAL_MS[talk.direction];
        this.#onSequence(talk, sequence);
      },
      () => {
        talk.missedPings++;
        talk.nextPingAt = timers.now() + PING_RETRY_MS;
        if (talk.missedPings >= MAX_MISSED_PINGS) drop(talk.peerId, GOODBYE.fault, "no answer to pings");
      },
    );
  }

  #onSequence(talk: Talk, sequence: bigint): void {
    const { requests, timers, known } = this.#parts;
    const held = known.get(talk.peerId)?.metadata;
    // What is held may be of an earlier connection, since when the peer may have begun to count anew.
    if (held && talk.metadataKnown && sequence <= held.seqNumber) return;
    if (!talk.relevant || timers.now() - talk.metadataAskedAt < METADATA_PAUSE_MS) return;
    this.#ask(talk, "metadata", async (signal) => {
      talk.metadataAskedAt = timers.now();
      const metadata = await requests.metadata(talk.peerId, signal);
      if (this.#talks.get(talk.peerId) !== talk) return;
      known.touch(talk.peerId).metadata = metadata;
      talk.metadataKnown = true;
    });
  }

  /** One request of a kind at a time; its failure is the peer's, and the requests themselves have it scored. */
  #ask(
    talk: Talk,
    kind: "status" | "ping" | "metadata",
    request: (signal: AbortSignal) => Promise<void>,
    failed: (error: unknown) => void = () => {},
  ): void {
    if (talk.asking.has(kind)) return;
    talk.asking.add(kind);
    request(talk.ended.signal)
      .catch((error: unknown) => {
        if (talk.ended.signal.aborted) return;
        this.#parts.logger.debug("A peer did not answer", { peer: talk.peerId, request: kind, error: String(error) });
        failed(error);
      })
      .finally(() => talk.asking.delete(kind));
  }
}
