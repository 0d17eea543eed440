import type { Timers } from "../../../timers.ts";
import { Connection, type RequestBytes, type ResponseHandler, type Target } from "./connection.ts";
import { HttpError } from "./response-parser.ts";

/** How exact time limits are. */
const LOOK_MILLIS = 500;

type ConnectionTimers = Pick<Timers, "now" | "every">;

interface SendOptions {
  /** How long the upstream may take to begin its answer. */
  patience: number;
  /** Whether it goes out on a connection of its own, which nothing else goes out on. */
  isFresh: boolean;
}

/** The connections to one upstream, which stay open to be used again. */
export class Connections {
  readonly #target: Target;
  readonly #timers: ConnectionTimers;
  /** Also those that are idle. */
  readonly #open = new Set<Connection>();
  readonly #fresh = new WeakSet<Connection>();
  /** The one that was used last is last. */
  readonly #idle: { connection: Connection; until: number }[] = [];
  #endLooking: (() => void) | undefined;
  #isClosed = false;

  constructor(target: Target, timers: ConnectionTimers) {
    this.#target = target;
    this.#timers = timers;
  }

  send(request: RequestBytes, handler: ResponseHandler, { patience, isFresh }: SendOptions): void {
    if (this.#isClosed) {
      handler.onError(closed());
      return;
    }
    const now = this.#timers.now();
    const connection = (isFresh ? undefined : this.#takeIdle(now)) ?? this.#connect();
    if (isFresh) this.#fresh.add(connection);
    this.#endLooking ??= this.#timers.every(LOOK_MILLIS, () => this.#look());
    connection.send(request, handler, { now, patience });
  }

  /** Whoever waits for an answer is told that there will be none. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.fail(closed());
    this.#open.clear();
    this.#idle.length = 0;
    this.#look();
  }

  #takeIdle(now: number): Connection | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.until > now && !last.connection.isClosed) return last.connection;
      last.connection.destroy();
    }
    return undefined;
  }

  #connect(): Connection {
    const connected = new Connection(this.#target, {
      onFree: (connection) => {
        if (this.#fresh.has(connection)) connection.destroy();
        else this.#idle.push({ connection, until: this.#timers.now() + connection.idleMillis });
      },
      onUnheard: (request, handler, patience) => {
        if (this.#isClosed) handler.onError(closed());
        else this.#connect().send(request, handler, { now: this.#timers.now(), patience });
      },
      onClosed: (connection) => {
        this.#open.delete(connection);
        const position = this.#idle.findIndex((idle) => idle.connection === connection);
        if (position !== -1) this.#idle.splice(position, 1);
      },
    });
    this.#open.add(connected);
    return connected;
  }

  #look(): void {
    const now = this.#timers.now();
    for (const connection of this.#open) connection.checkSilence(now);
    for (const { connection, until } of this.#idle) if (until <= now) connection.destroy();
    if (this.#open.size > 0) return;
    this.#endLooking?.();
    this.#endLooking = undefined;
  }
}

const closed = () => new HttpError("is not asked any more");
