import { Pool } from "undici";
import type { Cost } from "../../server/method-table.ts";
import type { Timers } from "../../timers.ts";
import type { UpstreamRequest, UpstreamResponse } from "../exchange.ts";
import type { UpstreamOptions } from "../options.ts";
import { HttpExchange } from "./http-exchange.ts";
import { Latencies } from "./latencies.ts";
import { secretsIn } from "./secrets.ts";
import { Turns } from "./turns.ts";

/** More are used only for answers that wait for slow readers, so that these hold up nobody else. */
const DEFAULT_CONNECTIONS = 128;
/** More than that would wait for a connection for longer than anybody waits for an answer. */
const MAX_UNDER_WAY = 2048;

const CONNECT_MILLIS = 3000;
/** A state that has to be replayed takes its time. Whoever asks has a deadline of his own. */
const HEADERS_MILLIS = 120_000;
const BODY_MILLIS = 30_000;

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
  /** How long it may take to begin its answer. */
  readonly headersMillis?: number;
  /**
   * Whether it goes out on a connection of its own. The upstream may just be closing one that is idle, and then nobody knows
   * whether it has seen the request.
   */
  readonly isFresh?: boolean;
}

/** Asks one upstream, over connections that stay open. */
export class UpstreamClient {
  readonly options: UpstreamOptions;
  readonly latencies = new Latencies();
  readonly #timers: Pick<Timers, "now">;
  readonly #pool: Pool;
  readonly #turns: Turns;
  /** Its connections serve one request each. */
  readonly #freshPool: Pool;
  readonly #pathPrefix: string;
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
    const { origin, pathname } = new URL(options.url);
    this.#pathPrefix = pathname.replace(/\/+$/, "");
    this.#secrets = secretsIn(options.authorization);
    const poolOptions = {
      connect: { timeout: CONNECT_MILLIS },
      headersTimeout: HEADERS_MILLIS,
      bodyTimeout: BODY_MILLIS,
    };
    this.#pool = new Pool(origin, { ...poolOptions, connections: MAX_UNDER_WAY });
    this.#turns = new Turns(connections);
    this.#freshPool = new Pool(origin, { ...poolOptions, connections, pipelining: 0 });
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
    const exchange = this.begin(request, facts);
    if (signal === undefined) return exchange.response;
    const abort = () => exchange.abort("did not answer while somebody waited");
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await exchange.response;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** The same for who gives it up by `abort` of the exchange. */
  begin(request: UpstreamRequest, { cost = "cheap", headersMillis, isFresh = false }: RequestFacts = {}): HttpExchange {
    const began = this.#timers.now();
    const isAwaited = cost !== "heavy";
    let isAnswered = false;
    let isOver = false;
    let hasTurn = false;
    let leaveTurns = () => {};
    const onAnswered = () => {
      if (isAnswered) return;
      isAnswered = true;
      if (isAwaited) this.#awaited--;
    };
    const giveTurnBack = () => {
      if (hasTurn) this.#turns.giveBack();
      hasTurn = false;
    };
    const exchange = new HttpExchange(
      this.name,
      {
        onAnswered: () => {
          onAnswered();
          this.#overtaken = 0;
          this.#answeredAt = this.#timers.now();
          this.#quietSince = this.#answeredAt;
          this.latencies.note(cost, this.#answeredAt - began);
        },
        onPaused: giveTurnBack,
        onResumed: () => {
          if (isOver || isFresh || hasTurn) return;
          hasTurn = true;
          this.#turns.retake();
        },
        onOver: () => {
          isOver = true;
          onAnswered();
          this.#underWay--;
          leaveTurns();
          giveTurnBack();
        },
      },
      this.#secrets,
    );
    if (isAwaited && this.#awaited++ === 0) this.#quietSince = began;
    this.#underWay++;
    const { verb, url, headers, body } = request;
    const dispatch = (pool: Pool) =>
      pool.dispatch(
        {
          method: verb,
          path: this.#pathPrefix + url,
          headers: this.#headersOf(headers),
          body,
          headersTimeout: headersMillis,
        },
        exchange,
      );
    if (isFresh) dispatch(this.#freshPool);
    else {
      leaveTurns = this.#turns.take(() => {
        hasTurn = true;
        dispatch(this.#pool);
      });
    }
    return exchange;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    const reason = new Error("the gateway is closing");
    await Promise.all([this.#pool.destroy(reason), this.#freshPool.destroy(reason)]);
  }

  #headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
    const all: Record<string, string> = { ...headers, "accept-encoding": "identity" };
    if (this.options.authorization !== undefined) all.authorization = this.options.authorization;
    return all;
  }
}
