import type { Timers } from "../../async/timers.ts";
import { HttpClient } from "../../http-client/http-client.ts";
import type { Cost } from "../../server/method-table.ts";
import type { UpstreamRequest, UpstreamResponse } from "../exchange.ts";
import type { UpstreamOptions } from "../options.ts";
import { type ExchangeListener, type ExchangeObserver, HttpExchange } from "./http-exchange.ts";
import { Latencies } from "./latencies.ts";
import { secretsIn } from "./secrets.ts";
import { atTurnEnd } from "./turn-end.ts";
import { Turns } from "./turns.ts";

/** More are used only for answers that wait for slow readers, so that these hold up nobody else. */
const DEFAULT_CONNECTIONS = 128;
/** More than that would wait for a connection for longer than anybody waits for an answer. */
const MAX_UNDER_WAY = 2048;

/** An upstream that has answered nobody for so long, while questions wait, is taken for stuck. */
export const SILENT_MILLIS = 1000;
/** So is, for as long, one that others overtook so often without an answer in between, unless it was but a short pause. */
const OVERTAKEN_TIMES = 3;
export const PAUSE_MILLIS = 100;

interface UpstreamClientOptions {
  timers: Pick<Timers, "now">;
  connections?: number;
}

/** What is known of a request beside what is sent. */
interface RequestFacts {
  /** Those of one cost are expected to take about as long; `cheap` unless said. */
  readonly cost?: Cost;
  /** By default that of the HTTP client, which leaves time for the replay of a state. */
  readonly headersTimeoutMs?: number;
  /** By default true. Otherwise it has a connection of its own, takes no concurrency slot, and is never retried. */
  readonly idempotent?: boolean;
}

/** Asks one upstream, over connections that stay open. */
export class UpstreamClient implements ExchangeObserver {
  readonly options: UpstreamOptions;
  readonly latencies = new Latencies();
  readonly #timers: Pick<Timers, "now">;
  readonly #http: HttpClient;
  readonly #pathPrefix: string;
  readonly #turns: Turns;
  readonly #secrets: readonly string[];
  #underWay = 0;
  /** Of those under way, the ones that should have an answer soon and have none yet. */
  #awaited = 0;
  /** When the first of these was asked, or when it last answered anything. */
  #quietSince = 0;
  #answeredAt = 0;
  /** How often others were faster since it last answered, and when that happened last. */
  #overtaken = 0;
  #overtakenAt = 0;

  constructor(options: UpstreamOptions, { timers, connections = DEFAULT_CONNECTIONS }: UpstreamClientOptions) {
    this.options = options;
    this.#timers = timers;
    const { url, authorization } = options;
    this.#http = new HttpClient(url, { headers: authorization === undefined ? {} : { authorization } });
    this.#pathPrefix = new URL(url).pathname.replace(/\/+$/, "");
    this.#secrets = secretsIn(authorization);
    this.#turns = new Turns(connections);
  }

  get name(): string {
    return this.options.name;
  }

  /** How many requests have no whole answer yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Whether it has as much to do as can be asked of it at a time. */
  get isFull(): boolean {
    return this.#underWay >= MAX_UNDER_WAY;
  }

  /** Whether it is stuck, for all that can be seen from here. */
  get isSilent(): boolean {
    const now = this.#timers.now();
    if (this.#awaited > 0 && now - this.#quietSince > SILENT_MILLIS) return true;
    const isOvertaken = this.#overtaken >= OVERTAKEN_TIMES && now - this.#answeredAt > PAUSE_MILLIS;
    return isOvertaken && now - this.#overtakenAt < SILENT_MILLIS;
  }

  /** Another one, asked later, has answered before. */
  noteOvertaken(): void {
    this.#overtaken++;
    this.#overtakenAt = this.#timers.now();
  }

  /** The answer, whatever its status. Rejects with an `UpstreamError` when there is none. */
  async request(
    request: UpstreamRequest,
    { signal, ...facts }: RequestFacts & { signal?: AbortSignal } = {},
  ): Promise<UpstreamResponse> {
    signal?.throwIfAborted();
    let abort: (() => void) | undefined;
    try {
      return await new Promise<UpstreamResponse>((onResponse, onFailure) => {
        const exchange = this.begin(request, { onResponse, onFailure }, facts);
        abort = () => exchange.abort("did not answer while somebody waited");
        signal?.addEventListener("abort", abort, { once: true });
      });
    } finally {
      if (abort) signal?.removeEventListener("abort", abort);
    }
  }

  /** The same for who gives it up by `abort` of the exchange. */
  begin(request: UpstreamRequest, listener: ExchangeListener, facts: RequestFacts = {}): HttpExchange {
    const { cost = "cheap", headersTimeoutMs, idempotent = true } = facts;
    const began = this.#timers.now();
    const known = { upstream: this.name, cost, began, idempotent, secrets: this.#secrets, listener };
    const exchange = new HttpExchange(known, this);
    if (isAwaited(exchange) && this.#awaited++ === 0) this.#quietSince = began;
    this.#underWay++;
    const { verb: method, url, headers, body } = request;
    const send = () => {
      if (exchange.isOver) return;
      const sent = { method, path: `${this.#pathPrefix}${url}`, headers, body };
      this.#http.send(sent, exchange, { idempotent, headersTimeoutMs });
    };
    if (!idempotent) send();
    else {
      exchange.leaveTurns = this.#turns.take(() => {
        exchange.hasTurn = true;
        this.together(send);
      });
    }
    return exchange;
  }

  /** Ends what is under way. */
  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }

  together(run: () => void): void {
    if (this.#underWay > 1) atTurnEnd(run);
    else run();
  }

  onAnswered(exchange: HttpExchange): void {
    this.#noteAnswered(exchange);
    this.#overtaken = 0;
    this.#answeredAt = this.#timers.now();
    this.#quietSince = this.#answeredAt;
    this.latencies.note(exchange.cost, this.#answeredAt - exchange.began);
  }

  onPaused(exchange: HttpExchange): void {
    this.#giveTurnBack(exchange);
  }

  onResumed(exchange: HttpExchange): void {
    if (exchange.isOver || !exchange.idempotent || exchange.hasTurn) return;
    exchange.hasTurn = true;
    this.#turns.retake();
  }

  onOver(exchange: HttpExchange): void {
    this.#noteAnswered(exchange);
    this.#underWay--;
    exchange.leaveTurns?.();
    this.#giveTurnBack(exchange);
  }

  #noteAnswered(exchange: HttpExchange): void {
    if (exchange.isAnswered) return;
    exchange.isAnswered = true;
    if (isAwaited(exchange)) this.#awaited--;
  }

  #giveTurnBack(exchange: HttpExchange): void {
    if (!exchange.hasTurn) return;
    exchange.hasTurn = false;
    this.#turns.giveBack();
  }
}

/** Whether it should have an answer soon. */
const isAwaited = ({ cost }: HttpExchange): boolean => cost !== "heavy";
