import { Semaphore } from "../../../async/semaphore.ts";
import type { Timers } from "../../../async/timers.ts";
import { HttpClient } from "../../../http-client/http-client.ts";
import type { ByteBudget } from "../../../server/http/request/byte-budget.ts";
import type { CallCost } from "../../../server/method-table.ts";
import type { Budget } from "../../clients/budget.ts";
import { credentialHeaders, type UpstreamSettings } from "../../settings.ts";
import type { UpstreamRequest, UpstreamResponse } from "../upstream-call.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { type ExchangeListener, type ExchangeObserver, HttpExchange } from "./http-exchange.ts";
import { LatencyTracker } from "./latency-tracker.ts";
import { extractSecrets } from "./redact-secrets.ts";
import { runAtTickEnd } from "./tick-batch.ts";

/** Only paused responses of slow readers use additional connections, so that they block no other request. */
const DEFAULT_CONNECTIONS = 128;
/** Further requests would wait for a connection longer than clients wait for a response. */
const MAX_PENDING_REQUESTS = 2048;

/** An upstream without any response for this long, while requests are pending, is unresponsive. */
export const UNRESPONSIVE_MILLIS = 1000;
/** An upstream that lost this many hedges in a row is unresponsive, too, unless it stalled only briefly. */
const MAX_LOST_HEDGES = 3;
export const SHORT_STALL_MILLIS = 100;

interface UpstreamClientOptions {
  timers: Pick<Timers, "now">;
  connections?: number;
  /** Budgets that every request is charged to. */
  budgets?: readonly Budget[];
  /** Called when the circuit breaker opens, with the failures and all requests of the last minute, and at its end. */
  onCircuitOpen?(failures: number, requests: number): void;
  onCircuitClose?(): void;
}

/** Properties of a request that are not sent. */
interface RequestOptions {
  /** Class of the expected latency. By default `cheap`. */
  readonly cost?: CallCost;
  /** By default that of the HTTP client, which allows for a state replay. */
  readonly headersTimeoutMs?: number;
  /** By default true. Otherwise the request uses its own connection, takes no concurrency slot and is never retried. */
  readonly idempotent?: boolean;
  /** Buffers a successful body of any size within this budget. By default large bodies are streamed. */
  readonly wholeBodyBudget?: ByteBudget | undefined;
}

/** HTTP client of one upstream, with keep-alive connections, a concurrency limit and latency tracking. */
export class UpstreamClient implements ExchangeObserver {
  readonly options: UpstreamSettings;
  readonly latencies = new LatencyTracker();
  readonly breaker: CircuitBreaker;
  readonly #timers: Pick<Timers, "now">;
  readonly #http: HttpClient;
  readonly #pathPrefix: string;
  readonly #limiter: Semaphore;
  readonly #secrets: readonly string[];
  readonly #budgets: readonly Budget[];
  #pendingRequests = 0;
  /** Pending requests that should be answered promptly. */
  #promptPending = 0;
  /** When the first of these was sent, or when the upstream last responded. */
  #quietSince = 0;
  #respondedAt = 0;
  /** Hedges lost since the last response, and when the last one was lost. */
  #lostHedges = 0;
  #lostHedgeAt = 0;

  constructor(
    options: UpstreamSettings,
    { timers, connections = DEFAULT_CONNECTIONS, budgets = [], onCircuitOpen, onCircuitClose }: UpstreamClientOptions,
  ) {
    this.options = options;
    this.#budgets = budgets;
    this.#timers = timers;
    this.breaker = new CircuitBreaker({ timers, onOpen: onCircuitOpen, onClose: onCircuitClose });
    const { url } = options;
    this.#http = new HttpClient(url, { headers: credentialHeaders(options) });
    this.#pathPrefix = new URL(url).pathname.replace(/\/+$/, "");
    this.#secrets = extractSecrets(options);
    this.#limiter = new Semaphore(connections);
  }

  get name(): string {
    return this.options.name;
  }

  /** Requests without a complete response. */
  get pendingRequests(): number {
    return this.#pendingRequests;
  }

  /** True if no further request should be sent: too many are pending, or a budget is spent. */
  get isSaturated(): boolean {
    return this.#pendingRequests >= MAX_PENDING_REQUESTS || this.#budgets.some(({ isSpent }) => isSpent);
  }

  /** Why the upstream is saturated, as a sentence. Undefined if it is not. */
  get saturationReason(): string | undefined {
    const spent = this.#budgets.find(({ isSpent }) => isSpent);
    if (spent !== undefined) {
      const budget = `${spent.description}, set by "budget" of this upstream`;
      return `${this.name} has spent its budget: ${budget}. Retry in ${spent.secondsToNextWindow} s.`;
    }
    if (this.#pendingRequests < MAX_PENDING_REQUESTS) return undefined;
    return `${this.name} has ${this.#pendingRequests} pending requests, which is the limit.`;
  }

  /** True if the upstream appears to hang. */
  get isUnresponsive(): boolean {
    const now = this.#timers.now();
    if (this.#promptPending > 0 && now - this.#quietSince > UNRESPONSIVE_MILLIS) return true;
    const isOvertaken = this.#lostHedges >= MAX_LOST_HEDGES && now - this.#respondedAt > SHORT_STALL_MILLIS;
    return isOvertaken && now - this.#lostHedgeAt < UNRESPONSIVE_MILLIS;
  }

  /** Records that a later request to another upstream was answered first. */
  recordLostHedge(): void {
    this.#lostHedges++;
    this.#lostHedgeAt = this.#timers.now();
  }

  /** Returns the response with any status. Rejects with an `UpstreamError` if there is none. */
  async request(
    request: UpstreamRequest,
    { signal, ...options }: RequestOptions & { signal?: AbortSignal } = {},
  ): Promise<UpstreamResponse> {
    signal?.throwIfAborted();
    let abort: (() => void) | undefined;
    try {
      return await new Promise<UpstreamResponse>((onResponse, onFailure) => {
        const exchange = this.start(request, { onResponse, onFailure }, options);
        abort = () => exchange.abort("did not answer before the request was cancelled");
        signal?.addEventListener("abort", abort, { once: true });
      });
    } finally {
      if (abort) signal?.removeEventListener("abort", abort);
    }
  }

  /** The callback form of `request`. */
  start(request: UpstreamRequest, listener: ExchangeListener, options: RequestOptions = {}): HttpExchange {
    const { cost = "cheap", headersTimeoutMs, idempotent = true, wholeBodyBudget } = options;
    const startedAt = this.#timers.now();
    const upstream = this.name;
    const secrets = this.#secrets;
    const exchange = new HttpExchange(
      { upstream, cost, startedAt, idempotent, secrets, wholeBodyBudget, listener },
      this,
    );
    if (isPromptExpected(exchange) && this.#promptPending++ === 0) this.#quietSince = startedAt;
    this.#pendingRequests++;
    for (const budget of this.#budgets) budget.spend(1);
    const { verb: method, url, headers, body } = request;
    const send = () => {
      if (exchange.isDone) return;
      const httpRequest = { method, path: `${this.#pathPrefix}${url}`, headers, body };
      this.#http.send(httpRequest, exchange, { idempotent, headersTimeoutMs });
    };
    if (!idempotent) send();
    else {
      exchange.cancelWait = this.#limiter.acquire(() => {
        exchange.holdsSlot = true;
        this.batch(send);
      });
    }
    return exchange;
  }

  /** Fails all pending requests. */
  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }

  now(): number {
    return this.#timers.now();
  }

  batch(run: () => void): void {
    if (this.#pendingRequests > 1) runAtTickEnd(run);
    else run();
  }

  onResponseStart(exchange: HttpExchange): void {
    this.#markResponded(exchange);
    this.#lostHedges = 0;
    this.#respondedAt = this.#timers.now();
    this.#quietSince = this.#respondedAt;
    this.latencies.record(exchange.cost, this.#respondedAt - exchange.startedAt);
  }

  onPaused(exchange: HttpExchange): void {
    this.#releaseSlot(exchange);
  }

  onResumed(exchange: HttpExchange): void {
    if (exchange.isDone || !exchange.idempotent || exchange.holdsSlot) return;
    exchange.holdsSlot = true;
    this.#limiter.acquireNow();
  }

  onDone(exchange: HttpExchange): void {
    this.#markResponded(exchange);
    this.#pendingRequests--;
    exchange.cancelWait?.();
    this.#releaseSlot(exchange);
  }

  #markResponded(exchange: HttpExchange): void {
    if (exchange.hasResponse) return;
    exchange.respondedAt = this.#timers.now();
    if (isPromptExpected(exchange)) this.#promptPending--;
  }

  #releaseSlot(exchange: HttpExchange): void {
    if (!exchange.holdsSlot) return;
    exchange.holdsSlot = false;
    this.#limiter.release();
  }
}

const isPromptExpected = ({ cost }: HttpExchange): boolean => cost !== "heavy";
