import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { Conditions } from "../condition.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import type { GatewayOptions } from "../options.ts";
import { Alarms } from "./alarms.ts";
import { discard } from "./ask.ts";
import { Bonds, bondOf, lacksPayload } from "./bonds.ts";
import { Choice } from "./choice.ts";
import { isPage } from "./complaint.ts";
import { HedgeBudget } from "./hedge-budget.ts";
import { nobodyAnswers } from "./nobody.ts";
import { Reading, type ReadingSurroundings } from "./reading.ts";
import { isForAll, submitTo } from "./submission.ts";
import { UpstreamClient } from "./upstream-client.ts";

/** So many requests without an answer in a row make an upstream suspect. */
const SUSPECT_AFTER = 5;
/** How long an upstream may take to answer a submission. */
const SUBMISSION_MILLIS = 30_000;

interface ErrorsInRow {
  readonly count: number;
  /** When the last of them came. */
  readonly at: number;
}

const NO_ERRORS: ErrorsInRow = { count: 0, at: Number.NEGATIVE_INFINITY };

interface UpstreamsOptions {
  options: Pick<GatewayOptions, "upstreams" | "broadcast" | "hedgeMillis">;
  conditions: Conditions;
  timers: Timers;
  logger: Logger;
  observer?: GatewayObserver;
  /** An upstream gave no answer several times in a row, so that it should be looked at. */
  onSuspect?(upstream: string, reason: string): void;
  /** Its own unless given. */
  bonds?: Bonds;
}

/** All upstreams, of which those are asked that can answer best. */
export class Upstreams {
  readonly #clients: readonly UpstreamClient[];
  readonly #conditions: Conditions;
  readonly #broadcast: GatewayOptions["broadcast"];
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #observer: GatewayObserver | undefined;
  readonly #onSuspect: UpstreamsOptions["onSuspect"];
  readonly #choice: Choice;
  readonly #bonds: Bonds;
  readonly #alarms: Alarms;
  readonly #surroundings: ReadingSurroundings;
  readonly #errors = new Map<UpstreamClient, ErrorsInRow>();

  constructor({ options, conditions, timers, logger, observer, onSuspect, bonds = new Bonds() }: UpstreamsOptions) {
    this.#clients = options.upstreams.map((upstream) => new UpstreamClient(upstream, { timers }));
    this.#conditions = conditions;
    this.#broadcast = options.broadcast;
    this.#timers = timers;
    this.#logger = logger;
    this.#observer = observer;
    this.#onSuspect = onSuspect;
    this.#bonds = bonds;
    this.#choice = new Choice(this.#clients, conditions);
    this.#alarms = new Alarms(timers);
    this.#surroundings = {
      conditions,
      choice: this.#choice,
      bonds,
      budget: new HedgeBudget(),
      alarms: this.#alarms,
      timers,
      hedgeMillis: options.hedgeMillis,
      observer,
      noteAnswer: (client) => this.#noteAnswer(client),
      noteError: (client, error, began) => this.#noteError(client, error, began),
    };
  }

  /** The answer of the upstream that can give it best, whatever its status. Rejects with a `Failure` when there is none. */
  read(question: Question): Promise<UpstreamResponse> {
    const { waiting } = question;
    // Where there is `onOver`, the signal would have to be made first.
    if (waiting.onOver === undefined && waiting.signal.aborted) return Promise.reject(waiting.signal.reason);
    return new Reading(question, this.#surroundings).answer;
  }

  /** The answers of so many different upstreams, asked at once. */
  async readFromSeveral(question: Question, count: number): Promise<PromiseSettledResult<UpstreamResponse>[]> {
    const tried: UpstreamClient[] = [];
    const readings = Array.from({ length: count }, () => new Reading(question, this.#surroundings, tried));
    const results = await Promise.allSettled(readings.map(({ answer }) => answer));
    // One that was given up for a faster one is needed where too few others answer.
    const overtaken = readings.flatMap((reading) => reading.overtaken);
    if (overtaken.length === 0 || results.every(isAnswered) || question.waiting.signal.aborted) return results;
    const others = this.#clients.filter((client) => !overtaken.includes(client));
    return Promise.all(
      results.map(async (result) => {
        if (isAnswered(result)) return result;
        const [again] = await Promise.allSettled([new Reading(question, this.#surroundings, others).answer]);
        const [given, dropped] = isAnswered(again) ? [again, result] : [result, again];
        if (dropped.status === "fulfilled") discard(dropped.value);
        return given;
      }),
    );
  }

  /**
   * Rejects with a `Failure` when no upstream can be asked, and with an `UpstreamError` when it is not known what has become of the
   * submission. It goes on when nobody waits for its answer any more: to break it off would leave open whether it was taken.
   */
  async submit(question: Question): Promise<UpstreamResponse> {
    const bond = bondOf(question.request);
    const ranked = this.#choice.ranked(
      bond && {
        preferred: this.#bonds.upstreamOf(bond),
        slot: bond.slot,
        needsPreferred: lacksPayload(question.request),
      },
    );
    if (ranked.length === 0) throw nobodyAnswers(this.#conditions, this.#choice);
    const response = await submitTo(ranked, this.#countFor(question, ranked), (client) => this.#send(client, question));
    if (bond && response.status < 300) this.#bonds.tie(bond, response.upstream);
    return response;
  }

  async close(): Promise<void> {
    this.#alarms.close();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Those that are not ready only come in where none is. */
  #countFor(question: Question, ranked: readonly UpstreamClient[]): number {
    const ready = ranked.filter(({ name }) => this.#conditions.of(name).fitness === "ready").length || ranked.length;
    return isForAll(question) || this.#broadcast === "all" ? ready : Math.min(this.#broadcast, ready);
  }

  async #send(client: UpstreamClient, { method, request }: Question): Promise<UpstreamResponse> {
    const began = this.#timers.now();
    this.#choice.noteAsked(client);
    try {
      const facts = { cost: method.cost, headersTimeoutMs: SUBMISSION_MILLIS, idempotent: false };
      const response = await client.request(request, facts);
      requireOwnAnswer(response);
      this.#observer?.asked(client.name, method.name, response.status, this.#timers.now() - began);
      this.#noteAnswer(client);
      return response;
    } catch (error) {
      this.#observer?.asked(client.name, method.name, "error", this.#timers.now() - began);
      if (error instanceof UpstreamError) {
        this.#noteError(client, error, began);
        this.#logger.warn("Submission to an upstream failed", { method: method.name, error: error.message });
      }
      throw error;
    }
  }

  #noteAnswer(client: UpstreamClient): void {
    if (this.#errors.size > 0) this.#errors.delete(client);
  }

  /**
   * What was under way when another failed may have failed for the same reason, and is not counted again. Who answers is there,
   * though one of its paths leads elsewhere: how it is, the answers to its polls tell.
   */
  #noteError(client: UpstreamClient, { message, isOfAnswer }: UpstreamError, began: number): void {
    if (isOfAnswer) return;
    const { count, at } = this.#errors.get(client) ?? NO_ERRORS;
    if (began < at) return;
    const errors = count + 1;
    this.#errors.set(client, { count: errors % SUSPECT_AFTER, at: this.#timers.now() });
    if (errors === SUSPECT_AFTER)
      this.#onSuspect?.(client.name, `${errors} requests in a row failed, the last one so: ${message}`);
  }
}

/** Whether an upstream has said something of what it was asked. */
function isAnswered(result: PromiseSettledResult<UpstreamResponse>): boolean {
  return result.status === "fulfilled" && result.value.status < 500;
}

/** A page for browsers is nothing that a node answers, so that it may never have got the submission. */
function requireOwnAnswer(response: UpstreamResponse): void {
  const { upstream, status } = response;
  if (status >= 300 || !isPage(response)) return;
  discard(response);
  const facts = { mayHaveArrived: true, isOfAnswer: true };
  throw new UpstreamError(upstream, `${upstream} answered with a page for browsers.`, facts);
}
