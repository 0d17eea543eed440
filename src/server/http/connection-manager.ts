import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../log/logger.ts";
import { scheduler } from "../scheduler.ts";
import { RateLimiter } from "./access/rate-limiter.ts";
import type { AccessRecord } from "./access-log.ts";
import { DeadlineTimer } from "./deadline.ts";
import { Exchange, type MemoryBudgets } from "./exchange.ts";
import { HttpError } from "./http-error.ts";
import { ByteBudget } from "./request/byte-budget.ts";
import type { HttpLimits, ServerLoad } from "./server.ts";

/** Creates the access log record for a request. */
export type RecordFactory = (req: IncomingMessage) => AccessRecord;

/** Minimum interval between warnings about refused connections. */
const WARN_EVERY_MILLIS = 60_000;

/** Interval at which a closing server checks for incomplete requests. */
const SWEEP_MILLIS = 100;

/** Tracks a server's connections and exchanges and enforces its limits. */
export class ConnectionManager implements MemoryBudgets {
  readonly requestBytes: ByteBudget;
  readonly responseBytes: ByteBudget;
  readonly #server: Server;
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #deadlineTimer: DeadlineTimer;
  readonly #limiter: RateLimiter | undefined;
  readonly #createRecord: RecordFactory | undefined;
  /** All connections, including upgraded ones, and their open exchanges. */
  readonly #connections = new Map<Socket, Set<Exchange>>();
  #openExchanges = 0;
  #onDrained: (() => void) | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #refusedConnections = 0;
  #rateLimited = 0;

  constructor(server: Server, limits: HttpLimits, logger: Logger, createRecord?: RecordFactory) {
    this.#server = server;
    this.#createRecord = createRecord;
    this.#limits = limits;
    this.#logger = logger;
    this.#deadlineTimer = new DeadlineTimer(limits.requestMillis);
    if (limits.requestsPerSecond !== undefined) this.#limiter = new RateLimiter(limits.requestsPerSecond);
    this.requestBytes = new ByteBudget(limits.heldBytes);
    this.responseBytes = new ByteBudget(limits.unreadBytes);
    server.maxConnections = limits.connections;
    // Without this option, processes that share the port would pass excess connections around endlessly.
    Object.assign(server, { dropMaxConnection: true });
    // Traffic in either direction resets this timeout in Node.
    server.timeout = limits.stallMillis;
    server.on("timeout", (socket: Socket) => this.#onSocketTimeout(socket));
    server.on("connection", (socket: Socket) => {
      this.#connections.set(socket, new Set());
      socket.once("close", () => this.#onDisconnect(socket));
      scheduler.noteConnection();
      // Delays the first read until the scheduler allows it. Node starts reading immediately after this event.
      process.nextTick(() => {
        socket.pause();
        scheduler.read(() => socket.resume());
      });
    });
    server.on("drop", () => {
      this.#refusedConnections++;
      this.#warnOfRefusedConnections();
    });
    // If there is no listener, Node sends 100 Continue before the request is checked.
    server.on("checkContinue", (req, res) => server.emit("request", req, res));
  }

  get load(): ServerLoad {
    return {
      connections: this.#connections.size,
      requests: this.#openExchanges,
      requestBytes: this.requestBytes.reserved,
      responseBytes: this.responseBytes.reserved,
      refused: {
        connections: this.#refusedConnections,
        "request rate": this.#rateLimited,
        "request bytes": this.requestBytes.refused,
        "answer bytes": this.responseBytes.refused,
      },
    };
  }

  /** Opens an exchange for a request whose headers have been received. */
  begin(res: ServerResponse): Exchange {
    const { socket } = res.req;
    const onConnection = this.#connections.get(socket);
    const exchange = new Exchange(this, res, {
      deadline: this.#deadlineTimer.begin(),
      blockedBy: onConnection?.size ? [...onConnection].at(-1) : undefined,
      record: this.#createRecord?.(res.req),
    });
    this.#openExchanges++;
    if (onConnection) {
      onConnection.add(exchange);
      // Bounds the number of pipelined requests whose responses have not been read.
      if (onConnection.size > this.#limits.pipelinedRequests) socket.destroy();
    }
    return exchange;
  }

  /** Throws an `HttpError` if requests from the address exceed the rate limit. */
  enforceRate(addressOf: () => string): void {
    const seconds = this.#limiter?.take(addressOf());
    if (seconds === undefined) return;
    this.#rateLimited++;
    const limit = this.#limits.requestsPerSecond;
    const message = `Request rate exceeded: ${limit} requests per second per address. Retry in ${seconds} s.`;
    throw new HttpError(429, message, { "Retry-After": String(seconds) });
  }

  /** Returns the open exchange of a request. */
  of(req: IncomingMessage): Exchange | undefined {
    for (const exchange of this.#connections.get(req.socket) ?? []) if (exchange.res.req === req) return exchange;
    return undefined;
  }

  /** Ends the processing of a request. The exchange stays open until the response is flushed. */
  finish(exchange: Exchange): void {
    const { res } = exchange;
    exchange.endProcessing();
    this.#deadlineTimer.end(exchange.deadline);
    // Fast path, because most responses have been flushed by now and adding a close listener to each is expensive.
    const isSent = res.writableEnded && res.socket?.writableLength === 0;
    if (isSent || res.destroyed) this.#remove(exchange);
    else res.once("close", () => this.#remove(exchange));
  }

  /**
   * Stops accepting requests, waits up to `closeMillis` for running calls, and then closes all connections.
   * `endStreams` closes endless streams.
   */
  async close(endStreams: () => Promise<void> | void): Promise<void> {
    // Closes idle connections as well.
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const { promise: timedOut, resolve: onTimeout } = Promise.withResolvers<void>();
    const timeout = setTimeout(onTimeout, this.#limits.closeMillis);
    this.#destroyIncomplete();
    // An incomplete request may follow a running one or arrive during the shutdown.
    const sweep = setInterval(() => this.#destroyIncomplete(), SWEEP_MILLIS);
    await Promise.race([Promise.resolve(endStreams()).then(() => this.#drained()), timedOut]);
    clearInterval(sweep);
    clearTimeout(timeout);
    // The remaining connections are idle or too slow.
    for (const socket of this.#connections.keys()) socket.destroy();
    await closed;
  }

  #destroyIncomplete(): void {
    for (const [socket, exchanges] of this.#connections) if (isIncomplete(exchanges)) socket.destroy();
  }

  #remove(exchange: Exchange): void {
    const { socket } = exchange.res.req;
    const onConnection = this.#connections.get(socket);
    onConnection?.delete(exchange);
    this.#close(exchange);
  }

  #close(exchange: Exchange): void {
    if (!exchange.end()) return;
    this.#deadlineTimer.end(exchange.deadline);
    if (--this.#openExchanges === 0) this.#onDrained?.();
  }

  #onDisconnect(socket: Socket): void {
    const exchanges = this.#connections.get(socket) ?? [];
    this.#connections.delete(socket);
    for (const exchange of exchanges) {
      const { res } = exchange;
      // Node closes only the response in progress. Pipelined responses after it would wait forever.
      if (res.socket === null && !res.destroyed) {
        res.destroy();
        res.emit("close");
      }
      if (exchange.isProcessing) exchange.deadline.cancel();
      else this.#close(exchange);
    }
  }

  /** Handles a socket timeout. A client may be silent only while waiting for a response. */
  #onSocketTimeout(socket: Socket): void {
    const exchanges = [...(this.#connections.get(socket) ?? [])];
    if (exchanges.some(({ awaitsResponse }) => awaitsResponse)) socket.setTimeout(this.#limits.stallMillis);
    else socket.destroy();
  }

  #warnOfRefusedConnections(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MILLIS) return;
    this.#warnedAt = now;
    this.#logger.warn("Connection limit reached, refusing connections", { connections: this.#limits.connections });
  }

  async #drained(): Promise<void> {
    if (this.#openExchanges === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }
}

/** Returns true if all requests on the connection are incomplete. */
function isIncomplete(exchanges: ReadonlySet<Exchange>): boolean {
  return exchanges.size > 0 && [...exchanges].every(({ isProcessing, res }) => !isProcessing && !res.headersSent);
}
