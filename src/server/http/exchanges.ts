import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../log/logger.ts";
import { scheduler } from "../scheduler.ts";
import type { AccessRecord } from "./access-log.ts";
import { type Deadline, Deadlines } from "./deadline.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { HttpRefusal } from "./refusal.ts";
import type { HttpLimits, ServerLoad } from "./server.ts";

/** Bytes that clients may make the node hold, all of them together. */
export class ByteBudget {
  readonly limit: number;
  #held = 0;
  #refused = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** How often there was no room. */
  get refused(): number {
    return this.#refused;
  }

  /** False when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) {
      this.#refused++;
      return false;
    }
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

/** A body up to this is not worth a new connection. */
const DROPPED_BYTES = 1024 * 1024;

/** Whether the client waits to be told to send the body (RFC 9110, section 10.1.1). Node refuses whatever else one may expect. */
export function holdsBodyBack({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1";
}

function longestBody(req: IncomingMessage): number {
  // Of one that is held back, nobody knows whether it will come.
  if (req.headers["transfer-encoding"] !== undefined || holdsBodyBack(req)) return Number.POSITIVE_INFINITY;
  return Number(req.headers["content-length"] ?? 0);
}

interface ExchangeParts {
  deadline: Deadline;
  /** The request before it on the same connection, if that is not over. Requests of a connection run one by one. */
  blockedBy: Exchange | undefined;
  record: AccessRecord | undefined;
}

/** A request and its answer, from the head of the one to the last byte of the other. */
export class Exchange {
  readonly res: ServerResponse;
  readonly deadline: Deadline;
  /** What the access log will tell of it; undefined when there is none. */
  readonly record: AccessRecord | undefined;
  readonly #exchanges: Exchanges;
  readonly #blockedBy: Exchange | undefined;
  #whenOver: PromiseWithResolvers<void> | undefined;
  #isWorking = false;
  #isUnanswered = false;
  #isOver = false;
  #requestBytes = 0;
  #answerBytes = 0;

  constructor(exchanges: Exchanges, res: ServerResponse, { deadline, blockedBy, record }: ExchangeParts) {
    this.#exchanges = exchanges;
    this.#blockedBy = blockedBy;
    this.res = res;
    this.deadline = deadline;
    this.record = record;
  }

  /** Whether the node works for the request. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Whether the answer is still worked out. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  /** Whether nothing more is to be done for it, also because the client has left. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls `work` when it is this request's turn. The exchange may be over by then. */
  start(work: () => void): void {
    if (!this.#blockedBy) scheduler.run("request", work);
    else if (this.#blockedBy.isOver) scheduler.run("pipelined", work);
    else void this.#blockedBy.#over().then(() => scheduler.run("pipelined", work));
  }

  #over(): Promise<void> {
    this.#whenOver ??= Promise.withResolvers();
    return this.#whenOver.promise;
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
  }

  /** The answer, or its beginning, is there: from now on it is up to the client to read it. */
  answer(): void {
    this.#isUnanswered = false;
  }

  /** The work is done; the answer may not be read yet. */
  workDone(): void {
    this.#isWorking = false;
    this.#isUnanswered = false;
    this.releaseRequest();
  }

  /**
   * To be called before the request is refused, whose body may not be there yet: a short rest of it is read and dropped, so
   * that the connection can be used again. Otherwise nothing more is read, and the connection closes with the answer.
   */
  dropRest(): void {
    const { req } = this.res;
    req.resume();
    if (req.complete || longestBody(req) <= DROPPED_BYTES) return;
    this.res.shouldKeepAlive = false;
    stopReading(req.socket);
  }

  releaseRequest(): void {
    this.#exchanges.requestBytes.giveBack(this.#requestBytes);
    this.#requestBytes = 0;
  }

  /** Only for who keeps the exchanges. False when it was over already. */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#whenOver?.resolve();
    this.releaseRequest();
    this.#exchanges.answerBytes.giveBack(this.#answerBytes);
    this.record?.end(this.res);
    return true;
  }
}

/** Begins what the access log tells of a request. */
export type RecordRequest = (socket: Socket) => AccessRecord;

/** How often the log may say that connections are refused. */
const WARN_EVERY_MILLIS = 60_000;

/** How often a server that closes looks for requests that will never be whole. */
const SWEEP_MILLIS = 100;

/** All that goes on between a server and its clients, and the bounds of it. */
export class Exchanges {
  readonly requestBytes: ByteBudget;
  readonly answerBytes: ByteBudget;
  readonly #server: Server;
  readonly #limits: HttpLimits;
  readonly #logger: Logger;
  readonly #deadlines: Deadlines;
  readonly #limiter: RateLimiter | undefined;
  readonly #record: RecordRequest | undefined;
  /** All connections, with the exchanges on them that are not over; also those that were upgraded, or are to be. */
  readonly #connections = new Map<Socket, Set<Exchange>>();
  #open = 0;
  #whenNoneIsLeft: (() => void) | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #refusedConnections = 0;
  #overRate = 0;

  /** `record` is asked for what the access log tells of each request. */
  constructor(server: Server, limits: HttpLimits, logger: Logger, record?: RecordRequest) {
    this.#server = server;
    this.#record = record;
    this.#limits = limits;
    this.#logger = logger;
    this.#deadlines = new Deadlines(limits.requestMillis);
    if (limits.requestsPerSecond !== undefined) this.#limiter = new RateLimiter(limits.requestsPerSecond);
    this.requestBytes = new ByteBudget(limits.heldBytes);
    this.answerBytes = new ByteBudget(limits.unreadBytes);
    server.maxConnections = limits.connections;
    // In a process that shares its port with others, which would pass on for ever what none of them takes.
    Object.assign(server, { dropMaxConnection: true });
    // Node begins it anew whenever bytes flow, in either direction.
    server.timeout = limits.stallMillis;
    server.on("timeout", (socket: Socket) => this.#onSilence(socket));
    server.on("connection", (socket: Socket) => {
      this.#connections.set(socket, new Set());
      socket.once("close", () => this.#disconnected(socket));
      scheduler.noteConnection();
      // What a new client sends is read in its turn. Node begins to read from it behind this event.
      process.nextTick(() => {
        socket.pause();
        scheduler.read(() => socket.resume());
      });
    });
    server.on("drop", () => {
      this.#refusedConnections++;
      this.#warnOfRefusals();
    });
    // Otherwise Node would have a client send its body before anybody has looked at what the body is for.
    server.on("checkContinue", (req, res) => server.emit("request", req, res));
  }

  get load(): ServerLoad {
    return {
      connections: this.#connections.size,
      requests: this.#open,
      requestBytes: this.requestBytes.held,
      answerBytes: this.answerBytes.held,
      refused: {
        connections: this.#refusedConnections,
        "request rate": this.#overRate,
        "request bytes": this.requestBytes.refused,
        "answer bytes": this.answerBytes.refused,
      },
    };
  }

  /** To be called when the head of a request is there. */
  begin(res: ServerResponse): Exchange {
    const { socket } = res.req;
    const onConnection = this.#connections.get(socket);
    const exchange = new Exchange(this, res, {
      deadline: this.#deadlines.begin(),
      blockedBy: onConnection && [...onConnection].at(-1),
      record: this.#record?.(socket),
    });
    this.#open++;
    if (onConnection) {
      onConnection.add(exchange);
      // The answers to those sent ahead would pile up, and may never be read.
      if (onConnection.size > this.#limits.pipelinedRequests) socket.destroy();
    }
    return exchange;
  }

  /** Throws for a request of an address that makes too many. */
  requireRate({ socket }: IncomingMessage): void {
    const seconds = this.#limiter?.take(socket.remoteAddress ?? "");
    if (seconds === undefined) return;
    this.#overRate++;
    const message = `An address may make ${this.#limits.requestsPerSecond} requests a second; wait ${seconds} s.`;
    throw new HttpRefusal(429, message, { "Retry-After": String(seconds) });
  }

  /** The exchange of a request, if it has begun and is not over. */
  of(req: IncomingMessage): Exchange | undefined {
    for (const exchange of this.#connections.get(req.socket) ?? []) if (exchange.res.req === req) return exchange;
    return undefined;
  }

  /** To be called when nothing more is to be done for a request; of its answer, something may be left to read. */
  finish(exchange: Exchange): void {
    const { res } = exchange;
    exchange.workDone();
    this.#deadlines.end(exchange.deadline);
    // Most answers are with the operating system by now. Listening for the end of each would cost more than all else here.
    const isSent = res.writableEnded && res.socket?.writableLength === 0;
    if (isSent || res.destroyed) this.#forget(exchange);
    else res.once("close", () => this.#forget(exchange));
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
    this.#destroyHalfSent();
    // Half of a request may also have come behind one that is answered first, or may come only now.
    const sweep = setInterval(() => this.#destroyHalfSent(), SWEEP_MILLIS);
    await Promise.race([Promise.resolve(endStreams()).then(() => this.#drained()), timeIsOver]);
    clearInterval(sweep);
    clearTimeout(impatience);
    // What remains has no call running, such as connections whose streamed answer promised keep-alive, or takes too long.
    for (const socket of this.#connections.keys()) socket.destroy();
    await closed;
  }

  #destroyHalfSent(): void {
    for (const [socket, exchanges] of this.#connections) if (isHalfSent(exchanges)) socket.destroy();
  }

  #forget(exchange: Exchange): void {
    const { socket } = exchange.res.req;
    const onConnection = this.#connections.get(socket);
    onConnection?.delete(exchange);
    this.#end(exchange);
  }

  #end(exchange: Exchange): void {
    if (!exchange.end()) return;
    this.#deadlines.end(exchange.deadline);
    if (--this.#open === 0) this.#whenNoneIsLeft?.();
  }

  #disconnected(socket: Socket): void {
    const exchanges = this.#connections.get(socket) ?? [];
    this.#connections.delete(socket);
    for (const exchange of exchanges) {
      const { res } = exchange;
      // Node closes only the response whose turn it is; those behind it on the same connection would wait for ever.
      if (res.socket === null && !res.destroyed) {
        res.destroy();
        res.emit("close");
      }
      if (exchange.isWorking) exchange.deadline.abandon();
      else this.#end(exchange);
    }
  }

  /** No byte has flowed for a while, which is as it should be only while the client waits for an answer. */
  #onSilence(socket: Socket): void {
    const exchanges = [...(this.#connections.get(socket) ?? [])];
    if (exchanges.some(({ isUnanswered }) => isUnanswered)) socket.setTimeout(this.#limits.stallMillis);
    else socket.destroy();
  }

  #warnOfRefusals(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MILLIS) return;
    this.#warnedAt = now;
    this.#logger.warn("Connections are refused because there are too many.", { connections: this.#limits.connections });
  }

  async #drained(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenNoneIsLeft = resolve;
    });
  }
}

/** Stops reading for good. Pausing once is not enough: Node resumes a socket whenever a piece of a request body is consumed. */
function stopReading(socket: Socket): void {
  socket.on("resume", () => socket.pause()).pause();
}

/** Whether somebody on the connection has sent a part of a request, and nobody waits for an answer. */
function isHalfSent(exchanges: ReadonlySet<Exchange>): boolean {
  return exchanges.size > 0 && [...exchanges].every(({ isWorking, res }) => !isWorking && !res.headersSent);
}
