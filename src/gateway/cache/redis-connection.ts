import { reconnect } from "../../async/backoff.ts";
import type { Timers } from "../../async/timers.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import type { GatewayObserver } from "../metrics/gateway-observer.ts";

export interface RedisConnectionOptions {
  url: string;
  /** Keys that are read to check the connection. */
  probes: readonly string[];
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "onCacheState">;
}

export type Redis = typeof import("@redis/client");
type Client = ReturnType<typeof createClient>;
type Command = readonly (string | Buffer)[];

/** Timeout of commands on the path of a client request. */
export const READ_TIMEOUT_MILLIS = 50;
/** Timeout of background commands. */
const WRITE_TIMEOUT_MILLIS = 1000;
const CONNECT_TIMEOUT_MILLIS = 2000;
/** Exponential backoff between connection attempts. */
const FIRST_BACKOFF_MILLIS = 250;
const MAX_BACKOFF_MILLIS = 10_000;
/** Delay before writes are retried after Redis rejected one. */
const WRITE_RETRY_MILLIS = 10_000;
const MAX_PENDING_COMMANDS = 1024;

class TimeoutError extends Error {}

/**
 * Connection to a Redis or Valkey that may be unavailable, slow, full or read-only at any time. Commands never reject
 * and have short timeouts. After a failure, no command is sent until a background check succeeds.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  readonly #address: { address: string };
  readonly #outage: Alarm;
  readonly #writeRejection: Alarm;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Loaded lazily: a gateway without a cache starts faster. */
  #redis: Redis | undefined;
  /** Set while Redis is available. */
  #client: Client | undefined;
  #onLost: () => void = () => {};
  /** Set while Redis rejects writes: the rejected command, and when to retry. */
  #rejectedWrite: { command: string; retryAt: number } | undefined;
  #reportedState: "up" | "down" | undefined;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    // Without the credentials of the URL.
    this.#address = { address: new URL(options.url).host };
    this.#outage = new Alarm(options.logger, {
      raised: "Shared cache unavailable, caching in memory only",
      cleared: "Shared cache available again",
    });
    this.#writeRejection = new Alarm(options.logger, {
      raised: "Shared cache rejects writes",
      cleared: "Shared cache accepts writes again",
    });
    this.#running = this.#run();
  }

  /** True while Redis is available. */
  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** True while Redis is available and accepts writes. */
  get isWritable(): boolean {
    return this.isUp && this.#options.timers.now() >= (this.#rejectedWrite?.retryAt ?? 0);
  }

  /** Returns undefined on failure or timeout. */
  async read(command: Command): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      return await this.#withTimeout(client.sendCommand(command), READ_TIMEOUT_MILLIS);
    } catch (error) {
      if (this.#isRedisError(error) || error instanceof TimeoutError) this.#onConnectionLost(client, error);
      return undefined;
    }
  }

  /** Like `read`, for a command that needs memory. A full Redis or a replica rejects it. */
  async write(command: Command, { isOnRequestPath }: { isOnRequestPath: boolean }): Promise<unknown> {
    const client = this.#client;
    if (client === undefined || !this.isWritable) return undefined;
    const name = String(command[0]);
    try {
      const reply = await this.#withTimeout(
        client.sendCommand(command),
        isOnRequestPath ? READ_TIMEOUT_MILLIS : WRITE_TIMEOUT_MILLIS,
      );
      // The success of another command does not mean that this one works again.
      if (this.#rejectedWrite?.command === name) this.#rejectedWrite = undefined;
      if (this.#rejectedWrite === undefined) this.#writeRejection.clear(this.#address);
      this.#reportState();
      return reply;
    } catch (error) {
      if (this.#isRedisError(error)) this.#onWriteRejected(name, error);
      else if (error instanceof TimeoutError) this.#onConnectionLost(client, error);
      return undefined;
    }
  }

  /** Sends a command without waiting for it. Failures are ignored. */
  sendUnawaited(command: Command): void {
    this.#client?.sendCommand(command).catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#onLost();
    await this.#running;
  }

  #withTimeout<T>(reply: Promise<T>, millis: number): Promise<T> {
    const timeoutError = () => new TimeoutError(`It did not answer within ${millis} ms.`);
    return withTimeout(reply, millis, this.#options.timers, timeoutError);
  }

  /** True if Redis itself reported the error, unlike a full command queue. */
  #isRedisError(error: unknown): error is Error {
    return this.#redis !== undefined && error instanceof this.#redis.ErrorReply;
  }

  #onWriteRejected(command: string, { message }: Error): void {
    this.#rejectedWrite = { command, retryAt: this.#options.timers.now() + WRITE_RETRY_MILLIS };
    this.#writeRejection.raise({ ...this.#address, reason: this.#redactPassword(message) });
    this.#reportState();
  }

  #onConnectionLost(client: Client, error: Error): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#reportOutage(error);
    this.#onLost();
  }

  #reportOutage(error: Error & { code?: string }): void {
    // An error of a host with several addresses has no message.
    this.#outage.raise({ ...this.#address, reason: this.#redactPassword(error.message || String(error.code)) });
    this.#reportState();
  }

  /** A server that is not Redis may echo the AUTH command in its error. */
  #redactPassword(reason: string): string {
    const password = decodeURIComponent(new URL(this.#options.url).password);
    return password === "" ? reason : reason.replaceAll(password, "…");
  }

  /** Reconnects with backoff until closed. */
  async #run(): Promise<void> {
    const redis = await import("@redis/client");
    this.#redis = redis;
    await reconnect(() => this.#connectOnce(createClient(redis, this.#options.url)), {
      firstMillis: FIRST_BACKOFF_MILLIS,
      maxMillis: MAX_BACKOFF_MILLIS,
      stableMillis: 2 * MAX_BACKOFF_MILLIS,
      timers: this.#options.timers,
      signal: this.#closing.signal,
    });
  }

  /** Resolves when the connection is lost or could not be opened. The client cannot be used afterwards. */
  async #connectOnce(client: Client): Promise<void> {
    const lost = new Promise<void>((resolve) => {
      this.#onLost = resolve;
    });
    const ready = client
      .connect()
      .then(() => this.#withTimeout(client.sendCommand(["MGET", ...this.#options.probes]), READ_TIMEOUT_MILLIS));
    const broken = new Promise<never>((_, reject) => {
      // After a protocol error, replies could be matched to the wrong commands.
      client.on("error", (error: Error) => {
        reject(error);
        this.#onConnectionLost(client, error);
      });
    });
    try {
      await Promise.race([this.#withTimeout(ready, CONNECT_TIMEOUT_MILLIS), broken, lost]);
      if (this.#closing.signal.aborted) return;
      this.#client = client;
      this.#outage.clear(this.#address);
      this.#reportState();
      await lost;
    } catch (error) {
      this.#reportOutage(error as Error);
    } finally {
      this.#client = undefined;
      client.destroy();
      // Otherwise a connection that opens late would stay open.
      void Promise.allSettled([ready]).then(() => client.destroy());
    }
  }

  #reportState(): void {
    const state = this.#client === undefined || this.#rejectedWrite !== undefined ? "down" : "up";
    if (state === this.#reportedState) return;
    this.#reportedState = state;
    this.#options.observer?.onCacheState(state);
  }
}

/** Creates a client that does not reconnect by itself. */
export function createClient(redis: Redis, url: string) {
  return redis.createClient({
    url,
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    // The owner reconnects and checks the connection.
    socket: { connectTimeout: CONNECT_TIMEOUT_MILLIS, reconnectStrategy: false },
    commandOptions: { timeout: 0, typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer } },
  });
}
