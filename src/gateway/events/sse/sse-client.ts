import { Backoff } from "../../../async/backoff.ts";
import type { Timers } from "../../../async/timers.ts";
import { OperationalError } from "../../../errors/operational-error.ts";
import { HttpClient } from "../../../http-client/http-client.ts";
import type { Logger } from "../../../log/logger.ts";
import type { StreamEvent } from "../../../server/events/feed.ts";
import { credentialHeaders, type UpstreamSettings } from "../../settings.ts";
import { SseConnection, SubscriptionRejected } from "./sse-connection.ts";

const FIRST_BACKOFF_MILLIS = 250;
const MAX_BACKOFF_MILLIS = 15_000;
/** A stream that was open for this long, or delivered an event, resets the backoff. */
const PROVEN_MILLIS = 2000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * An upstream rejects an unsupported topic within this time. For a supported one it may delay its response until the
 * first event.
 */
const REJECTION_TIMEOUT_MILLIS = 2000;
export interface SseClientListener {
  /** All events are delivered from now on. */
  connected(): void;
  event(event: StreamEvent): void;
  /** Events may be missed until the next connection. */
  disconnected(reason: Error): void;
}

export interface SseClientOptions {
  readonly upstream: UpstreamSettings;
  readonly topics: readonly string[];
  /** A connection without data for this long is closed, unless `isIdle` returns true. */
  readonly timeoutMillis: number;
  isIdle(): boolean;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly listener: SseClientListener;
}

/** Subscribes to topics of one upstream and reconnects with exponential backoff. */
export class SseClient {
  readonly #options: SseClientOptions;
  readonly #http: HttpClient;
  readonly #pathPrefix: string;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Topics that the upstream has not rejected. */
  #topics: readonly string[] = [];
  #connection: SseConnection | undefined;
  #lastBytesAt = 0;
  /** When the current connection resets the backoff. */
  #provenAt = Number.POSITIVE_INFINITY;

  constructor(options: SseClientOptions) {
    this.#options = options;
    const { url } = options.upstream;
    this.#http = new HttpClient(url, {
      headers: credentialHeaders(options.upstream),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs: 0,
      bodyTimeoutMs: 0,
    });
    this.#pathPrefix = new URL(url).pathname.replace(/\/+$/, "");
    this.#running = this.#run();
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
    const backoff = new Backoff({ firstMillis: FIRST_BACKOFF_MILLIS, maxMillis: MAX_BACKOFF_MILLIS });
    while (!this.#isClosed) {
      this.#provenAt = Number.POSITIVE_INFINITY;
      const reason = await this.#streamUntilBroken();
      if (this.#isClosed) break;
      listener.disconnected(reason);
      if (timers.now() >= this.#provenAt) backoff.reset();
      await this.#pause(backoff.next());
    }
    endWatch();
  }

  #endStale(): void {
    const { timers, timeoutMillis } = this.#options;
    if (timers.now() - this.#lastBytesAt <= timeoutMillis || this.#options.isIdle()) return;
    this.#connection?.end(new OperationalError(`It sent no data for more than ${timeoutMillis} ms.`));
  }

  /** Resolves with the reason when the stream breaks off. */
  async #streamUntilBroken(): Promise<Error> {
    const { listener, timers, topics } = this.#options;
    // A restarted upstream may support more topics.
    this.#topics = topics;
    try {
      const connection = await this.#subscribe();
      this.#provenAt = timers.now() + PROVEN_MILLIS;
      listener.connected();
      const onEvent = (event: StreamEvent) => {
        this.#provenAt = Number.NEGATIVE_INFINITY;
        listener.event(event);
      };
      return await connection.read(onEvent, () => this.#recordBytes());
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      this.#connection = undefined;
    }
  }

  async #subscribe(): Promise<SseConnection> {
    for (;;) {
      const connection = new SseConnection(this.#topics);
      this.#connection = connection;
      this.#recordBytes();
      try {
        await this.#request(connection);
        this.#recordBytes();
        return connection;
      } catch (error) {
        await this.#dropUnsupported(error);
      }
    }
  }

  /** Finds the topics that the upstream rejects by subscribing to each alone. Rethrows an error with another cause. */
  async #dropUnsupported(error: unknown): Promise<void> {
    if (!isErrorResponse(error)) throw error;
    const { upstream, logger } = this.#options;
    const answers = await Promise.all(this.#topics.map((topic) => this.#supports(topic)));
    const unsupported = this.#topics.filter((_, index) => !answers[index]);
    if (unsupported.length === 0 || unsupported.includes("head")) throw error;
    this.#topics = this.#topics.filter((topic) => !unsupported.includes(topic));
    logger.info("Upstream does not support some event topics", {
      upstream: upstream.name,
      topics: unsupported.join(),
    });
  }

  async #supports(topic: string): Promise<boolean> {
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

  #recordBytes(): void {
    this.#lastBytesAt = this.#options.timers.now();
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}

const isErrorResponse = (error: unknown): boolean => error instanceof SubscriptionRejected && error.status === 400;
