import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { Trouble } from "../../log/trouble.ts";
import type { GatewayObserver } from "../observer.ts";

export interface RedisLinkOptions {
  url: string;
  /** Keys that are looked at together to see whether the engine answers. */
  probes: readonly string[];
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "cacheIs">;
}

export type Redis = typeof import("@redis/client");
type Client = ReturnType<typeof createClient>;
type Command = readonly (string | Buffer)[];

/** For what a client waits for. */
const QUICK_MILLIS = 50;
/** For what nobody waits for. */
const SLOW_MILLIS = 1000;
const CONNECT_MILLIS = 2000;
/** Between attempts to connect, longer and longer. */
const FIRST_PAUSE_MILLIS = 250;
const LONGEST_PAUSE_MILLIS = 10_000;
/** An engine that refuses what it is to store is asked to again after this time. */
const REFUSED_MILLIS = 10_000;
const MAX_COMMANDS_UNDER_WAY = 1024;

class LateError extends Error {}

/**
 * The connection to a Redis or Valkey that may be gone, slow, full or closed to us at any time. Commands never reject, and take no
 * longer than their deadlines; once one is late or fails, nobody waits for any until the engine has shown in the background
 * that it answers.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #where: { address: string };
  readonly #absence: Trouble;
  readonly #refusal: Trouble;
  readonly #closing = new AbortController();
  readonly #living: Promise<void>;
  /** Loaded when a link is made: a gateway without one starts faster. */
  #redis: Redis | undefined;
  /** While it answers. */
  #client: Client | undefined;
  #onLost: () => void = () => {};
  /** While it refuses to store: the command that it refused, and when that is tried again. */
  #refused: { command: string; againAt: number } | undefined;
  #told: "up" | "down" | undefined;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    // Without the credentials that the URL may have.
    this.#where = { address: new URL(options.url).host };
    this.#absence = new Trouble(options.logger, {
      begins: "The cache engine does not answer; until it does, answers are kept in memory alone",
      ends: "The cache engine answers again",
    });
    this.#refusal = new Trouble(options.logger, {
      begins: "The cache engine refuses to store answers",
      ends: "The cache engine stores answers again",
    });
    this.#living = this.#live();
  }

  /** Whether it makes sense to look something up. */
  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** Whether it makes sense to have something stored. */
  get isStoring(): boolean {
    return this.isUp && this.#options.timers.now() >= (this.#refused?.againAt ?? 0);
  }

  /** Undefined when the engine does not answer, or not in time. */
  async read(command: Command): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      return await this.#inTime(client.sendCommand(command), QUICK_MILLIS);
    } catch (error) {
      if (this.#isRefusal(error) || error instanceof LateError) this.#lose(client, error);
      return undefined;
    }
  }

  /** The same for a command that takes memory there, which an engine that is full or only follows another refuses. */
  async store(command: Command, { isWaitedFor }: { isWaitedFor: boolean }): Promise<unknown> {
    const client = this.#client;
    if (client === undefined || !this.isStoring) return undefined;
    const name = String(command[0]);
    try {
      const reply = await this.#inTime(client.sendCommand(command), isWaitedFor ? QUICK_MILLIS : SLOW_MILLIS);
      // That it takes another command says nothing of the one that it has refused.
      if (this.#refused?.command === name) this.#refused = undefined;
      if (this.#refused === undefined) this.#refusal.isOver(this.#where);
      this.#tell();
      return reply;
    } catch (error) {
      if (this.#isRefusal(error)) this.#refuse(name, error);
      else if (error instanceof LateError) this.#lose(client, error);
      return undefined;
    }
  }

  /** What nobody waits for, and need not succeed. */
  remove(command: Command): void {
    this.#client?.sendCommand(command).catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#onLost();
    await this.#living;
  }

  #inTime<T>(reply: Promise<T>, millis: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = this.#options.timers.every(millis, () => {
        end();
        // The reply may be there already, if this process was too busy to read it. That is done before this is called.
        setImmediate(() => reject(new LateError(`It did not answer within ${millis} milliseconds.`)));
      });
      reply.finally(end).then(resolve, reject);
    });
  }

  /** Whether the engine itself has said so, and not only this process that it has too much under way. */
  #isRefusal(error: unknown): error is Error {
    return this.#redis !== undefined && error instanceof this.#redis.ErrorReply;
  }

  #refuse(command: string, { message }: Error): void {
    this.#refused = { command, againAt: this.#options.timers.now() + REFUSED_MILLIS };
    this.#refusal.met({ ...this.#where, reason: this.#withoutPassword(message) });
    this.#tell();
  }

  #lose(client: Client, error: Error): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#sayAbsent(error);
    this.#onLost();
  }

  #sayAbsent(error: Error & { code?: string }): void {
    // An address that stands for several has an error for each of them, and no message of its own.
    this.#absence.met({ ...this.#where, reason: this.#withoutPassword(error.message || String(error.code)) });
    this.#tell();
  }

  /** Something that does not know the command may repeat in its error what came with it. */
  #withoutPassword(reason: string): string {
    const password = decodeURIComponent(new URL(this.#options.url).password);
    return password === "" ? reason : reason.replaceAll(password, "…");
  }

  /** Connects, and again whenever the connection is lost, until this is closed. */
  async #live(): Promise<void> {
    const { timers } = this.#options;
    const { signal } = this.#closing;
    this.#redis = await import("@redis/client");
    let pause = FIRST_PAUSE_MILLIS;
    while (!signal.aborted) {
      const since = timers.now();
      await this.#liveOnce(createClient(this.#redis, this.#options.url));
      // One that answers now and then is not tried as often as one that was well for long.
      if (timers.now() - since > 2 * LONGEST_PAUSE_MILLIS) pause = FIRST_PAUSE_MILLIS;
      await timers.sleep(pause, signal).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
  }

  /** Until the connection is lost, or could not be made; the client is of no use then. */
  async #liveOnce(client: Client): Promise<void> {
    const lost = new Promise<void>((resolve) => {
      this.#onLost = resolve;
    });
    const ready = client
      .connect()
      .then(() => this.#inTime(client.sendCommand(["MGET", ...this.#options.probes]), QUICK_MILLIS));
    const broken = new Promise<never>((_, reject) => {
      // After something that cannot be understood, replies could be taken for those of other commands.
      client.on("error", (error: Error) => {
        reject(error);
        this.#lose(client, error);
      });
    });
    try {
      await Promise.race([this.#inTime(ready, CONNECT_MILLIS), broken, lost]);
      if (this.#closing.signal.aborted) return;
      this.#client = client;
      this.#absence.isOver(this.#where);
      this.#tell();
      await lost;
    } catch (error) {
      this.#sayAbsent(error as Error);
    } finally {
      this.#client = undefined;
      client.destroy();
      // A connection that is made only now would stay open.
      void Promise.allSettled([ready]).then(() => client.destroy());
    }
  }

  #tell(): void {
    const state = this.#client === undefined || this.#refused !== undefined ? "down" : "up";
    if (state === this.#told) return;
    this.#told = state;
    this.#options.observer?.cacheIs(state);
  }
}

/** It never connects again by itself. */
export function createClient(redis: Redis, url: string) {
  return redis.createClient({
    url,
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS_UNDER_WAY,
    // Connections are made anew by whoever uses it, with a look at whether the engine answers.
    socket: { connectTimeout: CONNECT_MILLIS, reconnectStrategy: false },
    commandOptions: { timeout: 0, typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer } },
  });
}
