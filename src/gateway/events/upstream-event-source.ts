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
  numberAt,
  reorgAncestorSlot,
} from "./chain-event.ts";
import { errorReason } from "./error-reason.ts";
import { eventLimits, UNLIMITED } from "./event-limits.ts";
import { readHeader } from "./gap-backfill.ts";
import { parseEvent } from "./parse-event.ts";
import { SseClient, type SseClientListener } from "./sse/sse-client.ts";
import { ALWAYS_ON_TOPICS, CHAIN_TOPICS, isAlwaysOn } from "./topics.ts";
import { UpstreamEventLog } from "./upstream-event-log.ts";

/** A chain that advances has head and block events in every slot. */
const STALE_SLOTS = 2;
/** How long a warning about invalid events lasts, even if valid ones arrive in between. */
const INVALID_EVENTS_MILLIS = 60_000;
/** Interval between requests for the head of an upstream that announces future slots. */
const CONFIRMATION_MILLIS = 1000;
/** Maximum number of events queued during such a request. */
const MAX_QUEUED_EVENTS = 10_000;
/** Larger than any event of a deduplicated topic except slashings. */
const MAX_REMEMBERED_BYTES = 128 * 1024;

/** Fetches a path from an upstream. Undefined for 404. Rejects on timeout. */
export type FetchFrom = (upstream: string, path: string) => Promise<Buffer | undefined>;

/** Receives heads, finality and reorgs by upstream. */
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
  /** Newest head that the upstream confirmed after an event about the future: a dev chain can run ahead of the clock. */
  #confirmedSlot = Number.NEGATIVE_INFINITY;
  #nextConfirmationAt = Number.NEGATIVE_INFINITY;
  /** Events that arrive while another one is confirmed. */
  #queued: StreamEvent[] | undefined;
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
    this.#queued = undefined;
    this.log.clear();
    const head = await this.#fetchHead();
    if (connection !== this.#connection) return;
    if (head && head.slot <= eventLimits(this.#deps).slot) this.log.startAt(head);
    this.#isConnected = true;
    this.#listener.onConnectionChange();
  }

  async #fetchHead(): Promise<BlockRef | undefined> {
    return readHeader(await this.#fetch("/eth/v1/beacon/headers/head"));
  }

  /** Never rejects. */
  async #fetch(path: string): Promise<unknown> {
    const { fetch, logger } = this.#deps;
    try {
      const answer = await fetch(this.name, path);
      return answer && JSON.parse(answer.toString());
    } catch (error) {
      logger.debug("Upstream did not report its chain", { upstream: this.name, path, reason: errorReason(error) });
      return undefined;
    }
  }

  /** True if it is healthy and its head is the last one that it announced. */
  get #isUpToDate(): boolean {
    const { state, head } = this.#deps.health.of(this.name);
    return (state === "ready" || state === "behind") && head?.root === this.log.head?.root;
  }

  /** Queues events while an earlier one is being confirmed. */
  #onEvent(received: StreamEvent): void {
    if (this.#queued === undefined) this.#receive(received);
    else if (this.#queued.length < MAX_QUEUED_EVENTS) this.#queued.push(received);
    else this.#reject(received);
  }

  #receive(received: StreamEvent): void {
    const event = this.#parse(received);
    if (event) {
      const isConfirmed = this.#confirmationOf(event);
      if (isConfirmed) void this.#confirm(received, async () => ((await isConfirmed()) ? event : undefined));
      else this.#accept(event);
      return;
    }
    const now = this.#deps.timers.now();
    const mayBeAhead = now >= this.#nextConfirmationAt && parseEvent(received, UNLIMITED) !== undefined;
    if (!mayBeAhead || isTooLarge(received)) {
      this.#reject(received);
      return;
    }
    this.#nextConfirmationAt = now + CONFIRMATION_MILLIS;
    // An event about the future is accepted if the head of the upstream is there, too.
    void this.#confirm(received, async () => {
      const head = await this.#fetchHead();
      if (head) this.#confirmedSlot = Math.max(this.#confirmedSlot, head.slot);
      return this.#parse(received);
    });
  }

  /** Accepts the event that `ask` resolves to, or else rejects the received one. Queues further events until then. */
  async #confirm(received: StreamEvent, ask: () => Promise<ChainEvent | undefined>): Promise<void> {
    const connection = this.#connection;
    const queued: StreamEvent[] = [];
    this.#queued = queued;
    const event = await ask();
    if (connection !== this.#connection) return;
    this.#queued = undefined;
    if (event) this.#accept(event);
    else this.#reject(received);
    for (const each of queued) this.#onEvent(each);
  }

  /**
   * Returns a function that asks the upstream to confirm an implausible event: a head before the last one without a
   * reorg, or a reorg behind finality, which occurs only on dev chains. Undefined for other events.
   */
  #confirmationOf(event: ChainEvent): (() => Promise<boolean>) | undefined {
    const { log } = this;
    const head = event.topic === "head" ? headOf(event) : undefined;
    if (head && log.head && head.slot < log.head.slot && log.reorgedTo !== head.root) {
      return async () => (await this.#fetchHead())?.root === head.root;
    }
    if (event.topic !== "chain_reorg") return undefined;
    const { slotsPerEpoch } = this.#deps.chainSpec;
    const { value } = event;
    const ancestorSlot =
      reorgAncestorSlot(event, log) ?? numberAt(value, "slot")! - (numberAt(value, "depth") ?? Infinity);
    if (ancestorSlot >= (this.#deps.health.of(this.name).finalized?.epoch ?? 0) * slotsPerEpoch) return undefined;
    return async () => {
      const answer = await this.#fetch("/eth/v1/beacon/states/head/finality_checkpoints");
      const epoch = numberAt(answer, "data", "finalized", "epoch");
      return epoch !== undefined && epoch * slotsPerEpoch <= ancestorSlot;
    };
  }

  #parse(received: StreamEvent): ChainEvent | undefined {
    if (isTooLarge(received)) return undefined;
    const isLimited = isAlwaysOn(received.topic);
    return parseEvent(received, isLimited ? eventLimits(this.#deps, this.#confirmedSlot) : UNLIMITED);
  }

  #reject({ topic }: StreamEvent): void {
    if (isLogged(topic)) this.log.addGap();
    this.#lastInvalidAt = this.#deps.timers.now();
    this.#invalidEvents.raise({ upstream: this.name, topic });
  }

  #accept(event: ChainEvent): void {
    if (this.#deps.timers.now() - this.#lastInvalidAt >= INVALID_EVENTS_MILLIS) {
      this.#invalidEvents.clear({ upstream: this.name });
    }
    this.#outage.clear({ upstream: this.name });
    if (isLogged(event.topic)) this.log.add(event);
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
    this.#queued = undefined;
    this.#outage.raise({ upstream: this.name, reason: errorReason(error) });
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#listener.onConnectionChange();
  }
}

const isLogged = (topic: string): boolean => topic === "block" || CHAIN_TOPICS.has(topic);

const isDeduplicated = (topic: string): boolean => isAlwaysOn(topic) && topic !== "attester_slashing";

function isTooLarge({ topic, data }: StreamEvent): boolean {
  return isDeduplicated(topic) && data.length > MAX_REMEMBERED_BYTES;
}
