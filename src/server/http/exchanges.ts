import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../log/logger.ts";
import { type Deadline, Deadlines } from "./deadline.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { HttpRefusal } from "./refusal.ts";
import type { HttpLimits } from "./server.ts";

/** Bytes that clients may make the node hold, all of them together. */
export class ByteBudget {
  readonly limit: number;
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** False when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

/** About what it takes to hold one piece of something, such as a write that waits, besides its bytes. */
export const PIECE_OVERHEAD_BYTES = 1024;

/** What one client takes of a budget, all of which is given back when it leaves, whatever it has not read. */
export class BudgetShare {
  readonly #budget: ByteBudget;
  #held = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** False when there is no room for them. */
  take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    const held = Math.min(bytes, this.#held);
    this.#held -= held;
    this.#budget.giveBack(held);
  }

  giveBackAll(): void {
    this.giveBack(this.#held);
  }
}

/** Answers below this leave for the operating system at once; above it a client that stops reading makes the node hold them. */
export const HELD_FROM_BYTES = 64 * 1024;

/** What is there of a connection. */
interface Connection {
  /** Exchanges that have begun and are not over. */
  open: number;
  /** Those of them whose answer the node still works out. */
  unanswered: number;
}

/** A request and its answer, from the head of the one to the last byte of the other. */
export class Exchange {
  readonly res: ServerResponse;
  readonly deadline: Deadline;
  readonly #exchanges: Exchanges;
  readonly #connection: Connection;
  #isWorking = false;
  #isUnanswered = false;
  #requestBytes = 0;
  #answerBytes = 0;

  constructor(exchanges: Exchanges, res: ServerResponse, connection: Connection, deadline: Deadline) {
    this.#exchanges = exchanges;
    this.res = res;
    this.#connection = connection;
    this.deadline = deadline;
    connection.open++;
  }

  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Whether there is room for more of the request. */
  holdRequest(bytes: number): boolean {
    if (!this.#exchanges.requestBytes.take(bytes)) return false;
    this.#requestBytes += bytes;
    return true;
  }

  /** Whether there is room for an answer of that length, until it is read. */
  holdAnswer(bytes: number): boolean {
    if (!this.#exchanges.answerBytes.take(bytes)) return false;
    this.#answerBytes += bytes;
    return true;
  }

  /** The request is there, and the node begins to work for it. */
  work(): void {
    this.#isWorking = true;
    this.#isUnanswered = true;
    this.#connection.unanswered++;
  }

  /** The answer, or its beginning, is there: from now on it is up to the client to read it. */
  answer(): void {
    if (this.#isUnanswered) this.#connection.unanswered--;
    this.#isUnanswered = false;
  }

  /** The work is done; the answer may not be read yet. */
  workDone(): void {
    this.answer();
    this.#isWorking = false;
    this.releaseRequest();
  }

  releaseRequest(): void {
    this.#exchanges.requestBytes.giveBack(this.#requestBytes);
    this.#requestBytes = 0;
  }

  /** Only for who keeps the exchanges. */
  end(): void {
    this.#connection.open--;
    this.releaseRequest();
    this.#exchanges.answerBytes.giveBack(this.#answerBytes);
    this.#answerBytes = 0;
  }
}

/** How often the log may say that connections are refused. */
const WARN_EVERY_MILLIS = 60_000;

/** All that goes on between a server and its clients, and the bounds of it. */
export class Exchanges {
  readonly requestBytes: ByteBudget;
  readonly answerBytes: ByteBudget;
  readonly #server: Server;
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #deadlines: Deadlines;
  readonly #limiter: RateLimiter | undefined;
  readonly #open = new Map<IncomingMessage, Exchange>();
  /** Also those that were upgraded, or are to be. */
  readonly #connections = new Map<Socket, Connection>();
  /** One listener for all responses, since it is added to every one of them. */
  readonly #onClose: (this: ServerResponse) => void;
  #whenNoneIsLeft: (() => void) | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(server: Server, limits: HttpLimits, logger: Logger) {
    this.#server = server;
    this.#limits = limits;
    this.#logger = logger;
    this.#deadlines = new Deadlines(limits.requestMillis);
    if (limits.requestsPerSecond !== undefined) this.#limiter = new RateLimiter(limits.requestsPerSecond);
    this.requestBytes = new ByteBudget(limits.heldBytes);
    this.answerBytes = new ByteBudget(limits.unreadBytes);
    const close = (req: IncomingMessage) => this.#closed(req);
    this.#onClose = function () {
      close(this.req);
    };
    server.maxConnections = limits.connections;
    // Node begins it anew whenever bytes flow, in either direction.
    server.timeout = limits.stallMillis;
    server.on("timeout", (socket: Socket) => this.#onSilence(socket));
    server.on("connection", (socket: Socket) => {
      this.#connections.set(socket, { open: 0, unanswered: 0 });
      socket.once("close", () => this.#disconnected(socket));
    });
    server.on("drop", () => this.#warnOfRefusals());
  }

  get connections(): number {
    return this.#connections.size;
  }

  get open(): number {
    return this.#open.size;
  }

  /** To be called when the head of a request is there. */
  begin(res: ServerResponse): Exchange {
    const { socket } = res.req;
    const connection = this.#connections.get(socket) ?? { open: 0, unanswered: 0 };
    const exchange = new Exchange(this, res, connection, this.#deadlines.begin());
    this.#open.set(res.req, exchange);
    res.on("close", this.#onClose);
    // The answers to those sent ahead would pile up, and nobody may ever read them.
    if (connection.open > this.#limits.pipelinedRequests) socket.destroy();
    return exchange;
  }

  /** Throws for a request of an address that makes too many. */
  requireRate({ socket }: IncomingMessage): void {
    const seconds = this.#limiter?.take(socket.remoteAddress ?? "");
    if (seconds === undefined) return;
    const message = `An address may make ${this.#limits.requestsPerSecond} requests a second; wait ${seconds} s.`;
    throw new HttpRefusal(429, message, { "Retry-After": String(seconds) });
  }

  /** The exchange of a request, if it has begun and is not over. */
  of(req: IncomingMessage): Exchange | undefined {
    return this.#open.get(req);
  }

  /** To be called when the work for a request is done. */
  finish(exchange: Exchange): void {
    exchange.workDone();
    this.#deadlines.end(exchange.deadline);
    if (exchange.res.closed || exchange.res.destroyed) this.#forget(exchange);
  }

  /**
   * Accepts nothing more, lets running calls finish, then closes every connection; once the time for that is over, without
   * waiting for anybody. `endStreams` ends what would never end by itself.
   */
  async close(endStreams: () => Promise<void> | void): Promise<void> {
    // Also closes the connections that are idle now.
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const { promise: timeIsOver, resolve: endTime } = Promise.withResolvers<void>();
    const impatience = setTimeout(endTime, this.#limits.closeMillis);
    for (const { isWorking, res } of this.#open.values()) if (!isWorking && !res.headersSent) res.req.socket.destroy();
    await Promise.race([Promise.resolve(endStreams()).then(() => this.#drained()), timeIsOver]);
    clearTimeout(impatience);
    // What remains has no call running, such as connections whose streamed answer promised keep-alive, or takes too long.
    for (const socket of this.#connections.keys()) socket.destroy();
    await closed;
  }

  #closed(req: IncomingMessage): void {
    const exchange = this.#open.get(req);
    if (exchange?.isWorking) exchange.deadline.abandon();
    else if (exchange) this.#forget(exchange);
  }

  #forget(exchange: Exchange): void {
    this.#deadlines.end(exchange.deadline);
    if (this.#open.delete(exchange.res.req)) exchange.end();
    if (this.#open.size === 0) this.#whenNoneIsLeft?.();
  }

  #disconnected(socket: Socket): void {
    const connection = this.#connections.get(socket);
    this.#connections.delete(socket);
    if (connection === undefined || connection.open === 0) return;
    // Node closes only the response whose turn it is; those behind it on the same connection would wait for ever.
    for (const { res } of this.#open.values()) {
      if (res.req.socket === socket && res.socket === null) {
        res.destroy();
        res.emit("close");
      }
    }
  }

  /** No byte has flowed for a while, which is as it should be only while the client waits for an answer. */
  #onSilence(socket: Socket): void {
    if (this.#connections.get(socket)?.unanswered) socket.setTimeout(this.#limits.stallMillis);
    else socket.destroy();
  }

  #warnOfRefusals(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MILLIS) return;
    this.#warnedAt = now;
    this.#logger.warn("Connections are refused because there are too many.", { connections: this.#limits.connections });
  }

  async #drained(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenNoneIsLeft = resolve;
    });
  }
}
