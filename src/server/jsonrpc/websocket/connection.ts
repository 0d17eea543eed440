import { inspect } from "node:util";
import type { RawData, WebSocket } from "ws";
import type { Logger } from "../../../log/logger.ts";
import type { Caller } from "../../method-table.ts";
import type { Execute } from "../execute.ts";
import { Outbox } from "./outbox.ts";
import { type SubscriptionLimits, Subscriptions } from "./subscriptions.ts";

export interface ConnectionLimits extends SubscriptionLimits {
  /** How many messages of a connection are worked on at once; the next ones are read when there is room again. */
  runningMessages: number;
  /** How long the other side may take to take leave. */
  leaveMillis: number;
  /** How long a client that shows no sign of life may take to read why it is cut off. */
  lastWordsMillis: number;
}

interface ConnectionOptions {
  execute: Execute;
  logger: Logger;
  limits: ConnectionLimits;
}

/** WebSocket close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

const NO_SIGN_OF_LIFE = "The client neither read what was sent to it nor answered a ping in time.";

/** One client: its calls, their answers and its subscriptions. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  readonly #closed: Promise<void>;
  #running = 0;
  #nothingRuns: (() => void) | undefined;
  #closing = false;
  /** Whether anything was heard since the last look. */
  #heard = true;
  #flushesAtLastLook = 0;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#outbox = new Outbox(socket);
    this.#subscriptions = new Subscriptions(this.#outbox, options.limits);
    this.#closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    void this.#closed.then(() => this.#subscriptions.close());
    socket.on("message", (data) => {
      this.#heard = true;
      if (!this.#closing) void this.#serve(data);
    });
    socket.on("pong", () => {
      this.#heard = true;
    });
    // A message that breaks the protocol or a limit; the socket is closed with the fitting code by itself.
    socket.on("error", (error) => options.logger.debug("A WebSocket connection failed.", { error: error.message }));
  }

  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Asks for a sign of life; a client that has shown none since the last time is cut off. */
  check(): void {
    if (this.#closing) return;
    const isReading = this.#outbox.flushes > this.#flushesAtLastLook;
    if (!this.#heard && !isReading && !this.#isWaitingForCalls) {
      void this.#cut();
      return;
    }
    this.#heard = false;
    this.#flushesAtLastLook = this.#outbox.flushes;
    this.#socket.ping();
  }

  /** Finishes what runs, then takes leave. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#subscriptions.close();
    if (this.#running > 0) {
      const finished = new Promise<void>((resolve) => {
        this.#nothingRuns = resolve;
      });
      await Promise.race([finished, this.#closed]);
    }
    this.#socket.close(GOING_AWAY, "The node is shutting down.");
    await this.#closedWithin(this.#options.limits.leaveMillis);
  }

  /** A client that only stood still, and reads on in time, learns from the last of what it reads why nothing more comes. */
  async #cut(): Promise<void> {
    this.#closing = true;
    this.#subscriptions.closeBecause(NO_SIGN_OF_LIFE);
    this.#outbox.close(POLICY_VIOLATION, NO_SIGN_OF_LIFE);
    await this.#closedWithin(this.#options.limits.lastWordsMillis);
  }

  async #closedWithin(millis: number): Promise<void> {
    // A paused socket would not hear the other side's leave.
    this.#socket.resume();
    const impatience = setTimeout(() => this.#socket.terminate(), millis);
    await this.#closed;
    clearTimeout(impatience);
  }

  /** The server does not read then, so that it cannot hear signs of life either. */
  get #isWaitingForCalls(): boolean {
    return this.#socket.isPaused && this.#socket.bufferedAmount === 0;
  }

  async #serve(data: RawData): Promise<void> {
    const { execute, logger, limits } = this.#options;
    if (++this.#running >= limits.runningMessages) this.#socket.pause();
    const started: string[] = [];
    try {
      const response = await execute(data as Buffer, this.#callerOf(started));
      const sent = response && this.#outbox.respond(response);
      for (const id of started) this.#subscriptions.release(id);
      await sent;
    } catch (error) {
      logger.error("A JSON-RPC message could not be answered as it should.", { error: inspect(error) });
      // Part of the answer may be written; to cut the connection is all that is left to tell the client.
      this.#socket.terminate();
    } finally {
      if (--this.#running < limits.runningMessages) this.#socket.resume();
      if (this.#running === 0) this.#nothingRuns?.();
    }
  }

  #callerOf(started: string[]): Caller {
    return {
      subscribe: (feed) => {
        const id = this.#subscriptions.start(feed);
        started.push(id);
        return id;
      },
      unsubscribe: (id) => this.#subscriptions.end(id),
    };
  }
}
