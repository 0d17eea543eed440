import type { Timers } from "../../async/timers.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { UpstreamSettings } from "../settings.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import {
  type BlockRef,
  type ChainEvent,
  type FinalizedCheckpoint,
  finalizedOf,
  headOf,
  reorgAncestorSlot,
} from "./chain-event.ts";
import { errorReason } from "./error-reason.ts";
import { eventLimits } from "./event-limits.ts";
import { readHeader } from "./gap-backfill.ts";
import { parseEvent } from "./parse-event.ts";
import { SseClient, type SseClientListener } from "./sse/sse-client.ts";
import { ALWAYS_ON_TOPICS, CHAIN_TOPICS, isAlwaysOn } from "./topics.ts";
import { UpstreamEventLog } from "./upstream-event-log.ts";

/** A chain that advances has head and block events in every slot. */
const STALE_SLOTS = 2;
/** Valid events in between do not end the warning of invalid ones. */
const INVALID_EVENTS_MILLIS = 60_000;
/** Larger than any event of a deduplicated topic except slashings. */
const MAX_REMEMBERED_BYTES = 128 * 1024;

/** Fetches a path from an upstream. Undefined for 404. Rejects on timeout. */
export type FetchFrom = (upstream: string, path: string) => Promise<Buffer | undefined>;

/** Receives what each upstream announces. */
export interface UpstreamHeadObserver {
  recordHead(upstream: string, head: BlockRef): void;
  recordFinalized(upstream: string, finalized: FinalizedCheckpoint): void;
  /** The upstream has reorged all blocks after this slot. */
  recordReorg(upstream: string, ancestorSlot: number): void;
}

export interface UpstreamEventSourceDeps {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all" | "of">;
  readonly observer: UpstreamHeadObserver;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly fetch: FetchFrom;
}

interface UpstreamEventListener {
  /** It was connected or disconnected. */
  onConnectionChange(): void;
  onEvent(source: UpstreamEventSource, event: ChainEvent): void;
}

/** Events of one upstream, and a log of its chain events since it was connected. */
export class UpstreamEventSource {
  readonly name: string;
  readonly tier: number;
  readonly log = new UpstreamEventLog();
  readonly #deps: UpstreamEventSourceDeps;
  readonly #listener: UpstreamEventListener;
  readonly upstream: UpstreamSettings;
  readonly #stream: SseClient;
  /** Streams of on-demand topics, one for each, so that opening or closing one leaves the others alone. */
  readonly #onDemand = new Map<string, SseClient>();
  readonly #outage: Alarm;
  readonly #invalidEvents: Alarm;
  #lastInvalidAt = 0;
  /** Incremented on every connection and disconnection. */
  #connection = 0;
  #isConnected = false;

  constructor(upstream: UpstreamSettings, deps: UpstreamEventSourceDeps, listener: UpstreamEventListener) {
    this.name = upstream.name;
    this.tier = upstream.tier;
    this.#deps = deps;
    this.#listener = listener;
    this.upstream = upstream;
    const { logger } = deps;
    this.#outage = new Alarm(logger, {
      raised: "Upstream event stream disconnected, reconnecting",
      cleared: "Upstream event stream reconnected",
    });
    this.#invalidEvents = new Alarm(logger, {
      raised: "Invalid event from upstream, skipping",
      cleared: "Upstream sends valid events again",
    });
    this.#stream = this.#open(ALWAYS_ON_TOPICS, {
      connected: () => void this.#start(),
      event: (event) => this.#onEvent(event),
      disconnected: (reason) => this.#onDisconnect(reason),
    });
  }

  /** True if it delivers all events. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Sets the on-demand topics, in addition to the always-on topics. */
  setTopics(topics: ReadonlySet<string>): void {
    for (const topic of topics) {
      if (!this.#onDemand.has(topic)) this.#onDemand.set(topic, this.#openTopic(topic));
    }
    for (const [topic, stream] of this.#onDemand) {
      if (topics.has(topic)) continue;
      this.#onDemand.delete(topic);
      void stream.close();
    }
  }

  async close(): Promise<void> {
    this.#connection++;
    await Promise.all([this.#stream, ...this.#onDemand.values()].map((stream) => stream.close()));
  }

  #open(topics: readonly string[], listener: SseClientListener): SseClient {
    const { timers, logger, chainSpec } = this.#deps;
    return new SseClient({
      upstream: this.upstream,
      topics,
      timeoutMillis: STALE_SLOTS * chainSpec.secondsPerSlot * 1000,
      isIdle: () => this.#isUpToDate,
      timers,
      logger,
      listener,
    });
  }

  /** Subscribes to `head` too, whose events show that the connection is alive. */
  #openTopic(topic: string): SseClient {
    const fields = { upstream: this.name, topic };
    const outage = new Alarm(this.#deps.logger, {
      raised: "Event topic not available from upstream, retrying",
      cleared: "Event topic available from upstream again",
    });
    return this.#open([topic, "head"], {
      connected: () => outage.clear(fields),
      event: (event) => {
        if (event.topic === topic) this.#onEvent(event);
      },
      disconnected: (error) => outage.raise({ ...fields, reason: errorReason(error) }),
    });
  }

  /** Never rejects. */
  async #start(): Promise<void> {
    const connection = ++this.#connection;
    this.log.clear();
    const head = await this.#fetchHead();
    if (connection !== this.#connection) return;
    if (head) this.log.startAt(head);
    this.#isConnected = true;
    this.#listener.onConnectionChange();
  }

  async #fetchHead(): Promise<BlockRef | undefined> {
    const { fetch, logger } = this.#deps;
    try {
      const answer = await fetch(this.name, "/eth/v1/beacon/headers/head");
      const head = answer && readHeader(JSON.parse(answer.toString()));
      return head && head.slot <= eventLimits(this.#deps).slot ? head : undefined;
    } catch (error) {
      logger.debug("Upstream did not report its head", { upstream: this.name, reason: errorReason(error) });
      return undefined;
    }
  }

  /** True if it is healthy and its head is the last one that it announced. */
  get #isUpToDate(): boolean {
    const { state, head } = this.#deps.health.of(this.name);
    return (state === "ready" || state === "behind") && head?.root === this.log.head?.root;
  }

  #onEvent(received: StreamEvent): void {
    const isTooLarge = isDeduplicated(received.topic) && received.data.length > MAX_REMEMBERED_BYTES;
    const event = isTooLarge ? undefined : parseEvent(received, eventLimits(this.#deps));
    if (!event) {
      this.#lastInvalidAt = this.#deps.timers.now();
      this.#invalidEvents.raise({ upstream: this.name, topic: received.topic });
      return;
    }
    if (this.#deps.timers.now() - this.#lastInvalidAt >= INVALID_EVENTS_MILLIS) {
      this.#invalidEvents.clear({ upstream: this.name });
    }
    this.#outage.clear({ upstream: this.name });
    if (event.topic === "block" || CHAIN_TOPICS.has(event.topic)) this.log.add(event);
    const { observer } = this.#deps;
    const head = event.topic === "head" ? headOf(event) : undefined;
    if (head) observer.recordHead(this.name, { slot: head.slot, root: head.root });
    const finalized = event.topic === "finalized_checkpoint" ? finalizedOf(event) : undefined;
    if (finalized) observer.recordFinalized(this.name, finalized);
    const ancestorSlot = event.topic === "chain_reorg" ? reorgAncestorSlot(event, this.log) : undefined;
    if (ancestorSlot !== undefined) observer.recordReorg(this.name, ancestorSlot);
    this.#listener.onEvent(this, event);
  }

  #onDisconnect(error: Error): void {
    this.#connection++;
    this.#outage.raise({ upstream: this.name, reason: errorReason(error) });
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#listener.onConnectionChange();
  }
}

const isDeduplicated = (topic: string): boolean => isAlwaysOn(topic) && topic !== "attester_slashing";
