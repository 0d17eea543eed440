import type { Timers } from "../../async/timers.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import { HttpClient } from "../../http-client/http-client.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { UpstreamOptions } from "../options.ts";
import { ConnectionHandover } from "./connection-handover.ts";
import { errorReason } from "./error-reason.ts";
import { SseConnection, SubscriptionRejected } from "./sse-connection.ts";
import { ALWAYS_ON_TOPICS } from "./topics.ts";

const FIRST_BACKOFF_MILLIS = 250;
const MAX_BACKOFF_MILLIS = 15_000;
/** A stream that was open for this long, or delivered an event, resets the backoff. */
const PROVEN_MILLIS = 2000;
/** Within this time, the new connection repeats all events of the old one. */
const HANDOVER_MILLIS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * An upstream rejects an unsupported topic within this time. For a supported one it may delay its response until the
 * first event.
 */
const REJECTION_TIMEOUT_MILLIS = 2000;
/** Delay before a failed change of topics is retried. */
const TOPIC_RETRY_MILLIS = 5000;

export interface SseClientListener {
  /** All events are delivered from now on. */
  connected(): void;
  event(event: StreamEvent): void;
  /** Events may be missed until the next connection. */
  disconnected(reason: Error): void;
}

export interface SseClientOptions {
  readonly upstream: UpstreamOptions;
  /** A connection without data for this long counts as broken, unless there is nothing to send. */
  readonly timeoutMillis: number;
  isIdle(): boolean;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly listener: SseClientListener;
}

interface ActiveConnection {
  readonly connection: SseConnection;
  readonly ended: Promise<Error>;
  /** Receives its events. */
  forward: (event: StreamEvent) => void;
}

/** Subscribes to the events of one upstream and reconnects with exponential backoff. */
export class SseClient {
  readonly #options: SseClientOptions;
  readonly #http: HttpClient;
  readonly #pathPrefix: string;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #topics: readonly string[] = ALWAYS_ON_TOPICS;
  /** Topics that the upstream does not support. */
  readonly #unsupported = new Set<string>();
  #onTopicsChanged: () => void = () => {};
  /** When each open or opening connection last received data. */
  readonly #lastBytesAt = new Map<SseConnection, number>();
  /** When the current connection resets the backoff. */
  #provenAt = Number.POSITIVE_INFINITY;
  readonly #outage: Alarm;

  constructor(options: SseClientOptions) {
    this.#options = options;
    const { url, authorization } = options.upstream;
    this.#http = new HttpClient(url, {
      headers: authorization === undefined ? {} : { authorization },
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs: 0,
      bodyTimeoutMs: 0,
    });
    this.#pathPrefix = new URL(url).pathname.replace(/\/+$/, "");
    this.#outage = new Alarm(options.logger, {
      raised: "Event topics could not be changed, retrying",
      cleared: "Event topics changed",
    });
    this.#running = this.#run();
  }

  /** Sets the on-demand topics, in addition to the always-on topics. */
  setTopics(topics: Iterable<string>): void {
    this.#topics = [...new Set([...ALWAYS_ON_TOPICS, ...topics])];
    this.#onTopicsChanged();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    this.#http.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { timers, listener, timeoutMillis } = this.#options;
    const endWatch = timers.every(timeoutMillis / 4, () => this.#endStale());
    let wait = FIRST_BACKOFF_MILLIS;
    while (!this.#isClosed) {
      this.#provenAt = Number.POSITIVE_INFINITY;
      const reason = await this.#streamUntilBroken();
      if (this.#isClosed) break;
      listener.disconnected(reason);
      if (timers.now() >= this.#provenAt) wait = FIRST_BACKOFF_MILLIS;
      await this.#pause(wait);
      wait = Math.min(2 * wait, MAX_BACKOFF_MILLIS);
    }
    endWatch();
  }

  /** Ends connections without data. A replacement counts as idle only if the old connection is idle too. */
  #endStale(): void {
    const { timers, timeoutMillis } = this.#options;
    const [oldestHeardAt = 0] = this.#lastBytesAt.values();
    for (const [connection, lastBytesAt] of this.#lastBytesAt) {
      if (timers.now() - lastBytesAt <= timeoutMillis) continue;
      if (lastBytesAt >= oldestHeardAt && this.#options.isIdle()) continue;
      connection.end(new OperationalError(`It sent no data for more than ${timeoutMillis} ms.`));
    }
  }

  /** Resolves with the reason when the stream breaks off. */
  async #streamUntilBroken(): Promise<Error> {
    const { listener, upstream } = this.#options;
    // A restarted upstream may support more topics.
    this.#unsupported.clear();
    try {
      let active = this.#startReading(await this.#subscribe(), (event) => {
        this.#provenAt = Number.NEGATIVE_INFINITY;
        listener.event(event);
      });
      this.#provenAt = this.#options.timers.now() + PROVEN_MILLIS;
      listener.connected();
      this.#outage.clear({ upstream: upstream.name });
      for (;;) {
        const reason = await Promise.race([active.ended, this.#topicsChangedFrom(active.connection.topics)]);
        if (reason) return reason;
        active = await this.#replace(active);
      }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      for (const connection of this.#lastBytesAt.keys()) connection.end();
    }
  }

  #startReading(connection: SseConnection, forward: (event: StreamEvent) => void): ActiveConnection {
    const noteLife = () => this.#lastBytesAt.set(connection, this.#options.timers.now());
    noteLife();
    const ended = connection
      .read((event) => active.forward(event), noteLife)
      .finally(() => this.#lastBytesAt.delete(connection));
    const active = { connection, ended, forward };
    return active;
  }

  /** Resolves when the topics to subscribe to differ from these. */
  async #topicsChangedFrom(topics: readonly string[]): Promise<undefined> {
    while (this.#supportedTopics().join() === topics.join()) {
      await new Promise<void>((resolve) => {
        this.#onTopicsChanged = resolve;
      });
    }
  }

  #supportedTopics(): string[] {
    return this.#topics.filter((topic) => !this.#unsupported.has(topic));
  }

  /** Keeps the old connection if no new one can be opened. */
  async #replace(old: ActiveConnection): Promise<ActiveConnection> {
    const { forward } = old;
    try {
      return await this.#openReplacement(old);
    } catch (error) {
      old.forward = forward;
      await this.#dropUnsupported(error, old.connection.topics).catch(async () => {
        if (this.#isClosed) return;
        this.#outage.raise({ upstream: this.#options.upstream.name, reason: errorReason(error) });
        await Promise.race([this.#pause(TOPIC_RETRY_MILLIS), old.ended]);
      });
      return old;
    }
  }

  /**
   * Opens a connection with other topics and hands over to it without gaps or duplicates. Resolves with the old one if
   * that breaks off meanwhile.
   */
  async #openReplacement(old: ActiveConnection): Promise<ActiveConnection> {
    const { listener, upstream } = this.#options;
    const { forward } = old;
    const supportedTopics = this.#supportedTopics();
    const commonTopics = supportedTopics.filter((topic) => old.connection.topics.includes(topic));
    const handover = new ConnectionHandover(commonTopics, (event) => listener.event(event));
    old.forward = (event) => {
      handover.recordOld(event);
      forward(event);
    };
    const connection = await Promise.race([this.#open(supportedTopics), old.ended]);
    if (connection instanceof Error) return old;
    const active = this.#startReading(connection, handover.onNewEvent);
    await Promise.race([this.#pause(HANDOVER_MILLIS), old.ended, active.ended]);
    if (old.connection.isOver) return old;
    if (connection.isOver) throw await active.ended;
    old.connection.end();
    handover.end();
    this.#outage.clear({ upstream: upstream.name });
    return active;
  }

  async #subscribe(): Promise<SseConnection> {
    for (;;) {
      try {
        return await this.#open(this.#supportedTopics());
      } catch (error) {
        await this.#dropUnsupported(error);
      }
    }
  }

  async #open(topics: readonly string[]): Promise<SseConnection> {
    const connection = new SseConnection(topics);
    this.#lastBytesAt.set(connection, this.#options.timers.now());
    try {
      await this.#request(connection);
      return connection;
    } catch (error) {
      this.#lastBytesAt.delete(connection);
      throw error;
    }
  }

  /**
   * Finds the topics that the upstream rejects by subscribing to each alone, except those already accepted. Rethrows an
   * error with another cause.
   */
  async #dropUnsupported(error: unknown, accepted: readonly string[] = []): Promise<void> {
    if (!isErrorResponse(error)) throw error;
    const { upstream, logger } = this.#options;
    const inQuestion = this.#supportedTopics().filter((topic) => !accepted.includes(topic));
    const answers = await Promise.all(inQuestion.map((topic) => this.#knows(topic)));
    const unsupported = inQuestion.filter((_, index) => !answers[index]);
    if (unsupported.length === 0 || unsupported.includes("head")) throw error;
    for (const topic of unsupported) this.#unsupported.add(topic);
    logger.info("Upstream does not support some event topics", {
      upstream: upstream.name,
      topics: [...this.#unsupported].join(),
    });
  }

  async #knows(topic: string): Promise<boolean> {
    const connection = new SseConnection([topic]);
    try {
      await Promise.race([this.#request(connection), this.#pause(REJECTION_TIMEOUT_MILLIS)]);
      return true;
    } catch (error) {
      if (isErrorResponse(error)) return false;
      throw error;
    } finally {
      connection.end();
    }
  }

  #request(connection: SseConnection): Promise<void> {
    return connection.open(this.#http, this.#pathPrefix, this.#closing.signal);
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}

const isErrorResponse = (error: unknown): boolean => error instanceof SubscriptionRejected && error.status === 400;
