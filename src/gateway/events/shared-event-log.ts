import { randomUUID } from "node:crypto";
import { reconnect } from "../../async/backoff.ts";
import type { Timers } from "../../async/timers.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { CacheSettings } from "../settings.ts";
import type { HealthState, HealthTracker } from "../upstream/upstream-health.ts";
import { AnnouncedEvents } from "./announced-events.ts";
import { type ChainEvent, headOf } from "./chain-event.ts";
import { errorReason } from "./error-reason.ts";
import { eventLimits } from "./event-limits.ts";
import { parseEvent } from "./parse-event.ts";
import { RedisEventStream, type StreamEntry } from "./redis-event-stream.ts";
import { isAlwaysOn } from "./topics.ts";

const LEASE_MILLIS = 4000;
const FIRST_BACKOFF_MILLIS = 250;
const MAX_BACKOFF_MILLIS = 15_000;

const STREAM_START = "0-0";

/** Source of events, such as an `EventMerger`. */
interface EventProducer {
  /** Health state of the leading upstream. Undefined while there is none. */
  readonly leaderState: HealthState | undefined;
  /** Starts to publish, after the events announced so far. */
  activate(announced: AnnouncedEvents): void;
  /** Stops publishing. Events in `unpublished` did not reach the stream and must be held. */
  deactivate(unpublished?: readonly ChainEvent[]): void;
}

export interface SharedEventLogOptions {
  readonly cache: CacheSettings;
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all">;
  readonly producer: EventProducer;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly leaseMillis?: number;
  publish(event: ChainEvent): void;
}

/**
 * Publishes the same events in the same order from all gateways that share a Redis. The lease holder writes its events
 * to a stream, and all gateways publish what they read from it. While Redis is unavailable, each gateway publishes its
 * own events. Only always-on topics are shared: attestations would be too many, and few gateways have readers for them.
 */
export class SharedEventLog {
  readonly #options: SharedEventLogOptions;
  readonly #leaseMillis: number;
  readonly #token = randomUUID();
  readonly #announced: AnnouncedEvents;
  readonly #outage: Alarm;
  readonly #invalidEvents: Alarm;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Nothing is published before the stream was read. */
  #role: "joining" | "writer" | "reader" | "standalone" = "joining";
  #stream: RedisEventStream | undefined;
  /** Events written to the stream and not read back yet. */
  #unconfirmed: ChainEvent[] = [];
  #hasLease = false;
  /** Id of the last processed entry. */
  #lastId = STREAM_START;

  constructor(options: SharedEventLogOptions) {
    const { logger, leaseMillis = LEASE_MILLIS } = options;
    this.#options = options;
    this.#announced = new AnnouncedEvents(options.chainSpec);
    this.#leaseMillis = leaseMillis;
    this.#outage = new Alarm(logger, {
      raised: "Shared event log unavailable, publishing own events",
      cleared: "Shared event log available again",
    });
    this.#invalidEvents = new Alarm(logger, {
      raised: "Invalid entry in shared event log, skipping",
      cleared: "Shared event log has valid entries again",
    });
    this.#running = this.#run();
  }

  /** Called by the producer for every event. */
  publish(event: ChainEvent): void {
    if (this.#role === "standalone") {
      this.#publish(event);
    } else if (this.#role === "writer") {
      this.#unconfirmed.push(event);
      void this.#write(this.#stream!, event);
    }
  }

  /** Releases the lease, so that another gateway can take over at once. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stream?.stopReading();
    await this.#running;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #run(): Promise<void> {
    const connect = async () => {
      const error = await this.#replicateUntilBroken();
      if (this.#isClosed) return;
      this.#outage.raise({ reason: errorReason(error) });
      this.#goStandalone();
    };
    return reconnect(connect, {
      firstMillis: FIRST_BACKOFF_MILLIS,
      maxMillis: MAX_BACKOFF_MILLIS,
      stableMillis: MAX_BACKOFF_MILLIS,
      timers: this.#options.timers,
      signal: this.#closing.signal,
    });
  }

  /** Resolves with the error. */
  async #replicateUntilBroken(): Promise<unknown> {
    const { cache, chainSpec, timers } = this.#options;
    try {
      this.#stream = await RedisEventStream.connect({
        url: cache.url,
        // A restarted dev chain keeps its validators, so the genesis time is needed too.
        prefix: `${cache.prefix}${chainSpec.genesisValidatorsRoot}:${chainSpec.genesisTime}:`,
        token: this.#token,
        leaseMillis: this.#leaseMillis,
        timers,
      });
      await this.#replicate(this.#stream);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      if (this.#isClosed && this.#hasLease) await this.#stream?.releaseLease().catch(() => {});
      this.#hasLease = false;
      this.#stream?.close();
      this.#stream = undefined;
    }
  }

  async #replicate(stream: RedisEventStream): Promise<void> {
    const { timers } = this.#options;
    // Fails early if Redis rejects the lease, for example because it is full.
    await this.#renewLease(stream);
    this.#join(await stream.readNewest());
    for (let leaseAt = timers.now() + this.#leaseMillis / 4; !this.#isClosed; ) {
      if (timers.now() >= leaseAt) {
        leaseAt = timers.now() + this.#leaseMillis / 4;
        await this.#renewLease(stream);
      }
      const isElected = this.#hasLease && this.#role === "reader";
      const entries = await stream.read(this.#lastId, isElected ? 0 : this.#leaseMillis / 8);
      for (const entry of entries) this.#take(entry);
      if (isElected && entries.length === 0) this.#becomeWriter();
    }
  }

  /**
   * Renews the lease. Releases it while there is no leading upstream, and yields it while that upstream is not ready.
   */
  async #renewLease(stream: RedisEventStream): Promise<void> {
    const { leaderState } = this.#options.producer;
    if (!leaderState && this.#hasLease) await stream.releaseLease();
    this.#hasLease =
      leaderState !== undefined && (await stream.acquireOrRenewLease({ isReady: leaderState === "ready" }));
    if (!this.#hasLease) this.#stepDown();
  }

  /**
   * Starts to publish from the stream. Entries after the last announced head are new. Without a head, the stream's end
   * is the starting point.
   */
  #join(entries: readonly StreamEntry[]): void {
    this.#options.producer.deactivate();
    this.#role = "reader";
    this.#outage.clear({});
    const { head } = this.#announced;
    const events = entries.map((entry) => this.#read(entry));
    const isAnnounced = (event: ChainEvent | undefined) =>
      head !== undefined && event?.topic === "head" && (headOf(event)?.slot ?? 0) <= head.slot;
    const announced = head ? events.findLastIndex(isAnnounced) + 1 : events.length;
    if (!head) for (const event of events) if (event) this.#announced.add(event);
    for (const event of events.slice(announced)) this.#publishNew(event);
    this.#lastId = entries.at(-1)?.id ?? STREAM_START;
  }

  #becomeWriter(): void {
    this.#role = "writer";
    this.#options.producer.activate(this.#announced.copy());
  }

  /** Events that are not in the stream are found by the next writer too. */
  #stepDown(): void {
    if (this.#role !== "writer") return;
    this.#role = "reader";
    this.#options.producer.deactivate(this.#unconfirmed);
    this.#unconfirmed = [];
  }

  #goStandalone(): void {
    if (this.#role === "standalone") return;
    const wasWriter = this.#role === "writer";
    this.#role = "standalone";
    for (const event of this.#unconfirmed.splice(0)) this.#publishNew(event);
    if (!wasWriter) this.#options.producer.activate(this.#announced.copy());
  }

  /** Never rejects. */
  async #write(stream: RedisEventStream, event: ChainEvent): Promise<void> {
    try {
      if (await stream.write(event)) return;
      this.#hasLease = false;
      this.#stepDown();
    } catch {
      // Fails the pending read, which reports the error.
      stream.stopReading();
    }
  }

  #take(entry: StreamEntry): void {
    this.#lastId = entry.id;
    // Entries are read back in the order in which they were written.
    if (entry.by === this.#token) this.#unconfirmed.shift();
    this.#publishNew(this.#read(entry));
  }

  #read({ id, event }: StreamEntry): ChainEvent | undefined {
    const read = event && isAlwaysOn(event.topic) ? parseEvent(event, eventLimits(this.#options)) : undefined;
    if (read) this.#invalidEvents.clear({});
    else this.#invalidEvents.raise({ id });
    return read;
  }

  #publishNew(event: ChainEvent | undefined): void {
    if (!event || this.#announced.has(event)) return;
    // After a time without Redis, the stream may repeat announced heads.
    if (event.topic === "head" && this.#announced.findHead(headOf(event)?.root ?? "")) return;
    this.#publish(event);
  }

  #publish(event: ChainEvent): void {
    this.#announced.add(event);
    this.#options.publish(event);
  }
}
