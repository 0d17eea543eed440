import type { Timers } from "../../async/timers.ts";
import { type Failure, unavailable } from "../../errors/failure.ts";
import type { Waiting } from "../../server/method-table.ts";
import type { Conditions } from "../condition.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import type { Alarm, Alarms } from "./alarms.ts";
import { discard } from "./ask.ts";
import { type Bond, type Bonds, bondOf } from "./bonds.ts";
import type { Choice } from "./choice.ts";
import { isHeadBound } from "./head-bound.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import type { ExchangeListener, HttpExchange } from "./http-exchange.ts";
import { nobodyAnswers } from "./nobody.ts";
import { toldHeadSlot } from "./told-head.ts";
import { PAUSE_MILLIS, SILENT_MILLIS, type UpstreamClient } from "./upstream-client.ts";
import { problemOf, refusalOfCredentials, type Verdict, verdictOn } from "./verdict.ts";

/** A second upstream is never asked sooner. */
const MIN_HEDGE_MILLIS = 5;
/**
 * What is large is asked of a second one when nothing of its answer has come for so long, and one that is known not to answer in time is
 * not waited for any longer.
 */
const LARGE_MILLIS = 10_000;
/** How long a question about the head waits for an upstream that has come as far as clients have been told. */
const FLOOR_WAIT_MILLIS = 10_000;

/** What all readings share. */
export interface ReadingSurroundings {
  readonly conditions: Conditions;
  readonly choice: Choice;
  readonly bonds: Bonds;
  readonly budget: HedgeBudget;
  readonly alarms: Alarms;
  readonly timers: Pick<Timers, "now">;
  readonly hedgeMillis: number;
  readonly observer: GatewayObserver | undefined;
  noteAnswer(client: UpstreamClient): void;
  /** An upstream gave no answer to what it was asked at `began`. */
  noteError(client: UpstreamClient, error: UpstreamError, began: number): void;
}

/** One upstream that is being asked. */
interface Attempt {
  readonly client: UpstreamClient;
  readonly exchange: HttpExchange;
  readonly began: number;
  /** Where its head was when it was asked. */
  readonly headSlot: number;
  alarm: Alarm | undefined;
  /** Whether it is not waited for any longer. */
  isGivenUp: boolean;
}

/** One question on its way to one upstream after the other, and sometimes to two at once, until there is an answer. */
export class Reading {
  /** Rejects with a `Failure` when no upstream gives one, or when nobody waits for it any more. */
  readonly answer: Promise<UpstreamResponse>;
  /** Those that were given up for the one that answered. */
  readonly overtaken: UpstreamClient[] = [];
  readonly #question: Question;
  readonly #surroundings: ReadingSurroundings;
  readonly #tried: UpstreamClient[];
  readonly #isHeadBound: boolean;
  readonly #bond: Bond | undefined;
  /** Few at a time. */
  readonly #attempts: Attempt[] = [];
  #errors: Map<string, string> | undefined;
  readonly #endListening: () => void;
  #resolve!: (response: UpstreamResponse) => void;
  #reject!: (error: unknown) => void;
  #isOver = false;
  /** What would do as an answer if there were no better one, by what is made of it. */
  readonly #refusals: Partial<Record<Verdict, UpstreamResponse>> = {};
  /** When no better one is waited for any longer. */
  #opinionAlarm: Alarm | undefined;
  /** An upstream that broke off, which an old connection may be to blame for. */
  #broken: UpstreamClient | undefined;
  #isRepeated = false;
  #floorDeadline: number | undefined;
  #endFloorWait: (() => void) | undefined;

  /** Those in `tried` are not asked, and those that are asked are added to it. */
  constructor(question: Question, surroundings: ReadingSurroundings, tried: UpstreamClient[] = []) {
    this.#question = question;
    this.#surroundings = surroundings;
    this.#tried = tried;
    this.#bond = bondOf(question.request);
    this.#isHeadBound = isHeadBound(question);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#endListening = onOver(question.waiting, (reason) => this.#fail(reason));
    surroundings.budget.noteRead();
    this.#goOn();
  }

  /** What is large is not soon sent twice, and no second upstream is put to the work of making a block. */
  get #isHedged(): boolean {
    return this.#question.method.cost !== "heavy" && this.#bond?.subject !== "block";
  }

  /** Asks the next upstream, or waits for those that are being asked, or ends with what there is. */
  #goOn(after?: UpstreamClient): void {
    const next = this.#choose();
    if (next === undefined) {
      const { questionable } = this.#refusals;
      if (this.#attempts.length === 0) this.#endWithoutMore();
      else if (questionable && this.#attempts.every(({ client }) => this.#isLate(client))) this.#give(questionable);
      return;
    }
    if (after) this.#surroundings.observer?.askedAnother(after.name, "failed");
    this.#ask(next);
  }

  #choose(): UpstreamClient | undefined {
    const { bonds, choice } = this.#surroundings;
    return choice.choose({
      isHeadBound: this.#isHeadBound,
      tried: this.#tried,
      preferred: this.#bond && bonds.upstreamOf(this.#bond),
      lacking: this.#question.lacking,
      slot: this.#bond?.slot,
      isForOpinion: this.#refusals.questionable !== undefined,
    });
  }

  #ask(client: UpstreamClient): void {
    const { choice, conditions, timers } = this.#surroundings;
    const { method, request } = this.#question;
    const listener: ExchangeListener = {
      onResponse: (response) => this.#take(attempt, response),
      onFailure: (error) => this.#miss(attempt, error),
    };
    const attempt: Attempt = {
      client,
      began: timers.now(),
      headSlot: conditions.of(client.name).head?.slot ?? 0,
      exchange: client.begin(request, listener, { cost: method.cost }),
      alarm: undefined,
      isGivenUp: false,
    };
    choice.noteAsked(client);
    this.#tried.push(client);
    this.#attempts.push(attempt);
    this.#setAlarm(attempt, this.#patience(client));
  }

  /** How long to wait for an upstream before another one is asked. */
  #patience(client: UpstreamClient): number {
    if (!this.#isHedged) return SILENT_MILLIS;
    const slow = client.latencies.slow(this.#question.method.cost) ?? this.#surroundings.hedgeMillis;
    return Math.max(slow, MIN_HEDGE_MILLIS);
  }

  #setAlarm(attempt: Attempt, millis: number): void {
    attempt.alarm = this.#surroundings.alarms.add(millis, () => this.#beImpatient(attempt));
  }

  #beImpatient(attempt: Attempt): void {
    const { client } = attempt;
    const { budget, observer } = this.#surroundings;
    const isLate = this.#isLate(client);
    const isStuck = isLate || (this.#isHedged && client.isSilent);
    const mayHedge = this.#isHedged || this.#isOverdue(attempt);
    const mayAsk = isStuck || (mayHedge && !this.#isTiedTo(client) && this.#attempts.length === 1);
    const next = mayAsk ? this.#choose() : undefined;
    if (next === undefined && isLate && this.#isHedged && this.#isOverdue(attempt)) {
      attempt.isGivenUp = true;
      attempt.exchange.abort(`did not answer within ${LARGE_MILLIS / 1000} s`);
      return;
    }
    if (next === undefined || !(isStuck || budget.take())) {
      this.#setAlarm(attempt, this.#isHedged ? PAUSE_MILLIS : SILENT_MILLIS);
      return;
    }
    this.#setAlarm(attempt, LARGE_MILLIS);
    observer?.askedAnother(client.name, "slow");
    this.#ask(next);
  }

  /** Whether it is not waited for as one that can be asked is. */
  #isLate({ name }: UpstreamClient): boolean {
    return !["ready", "behind"].includes(this.#surroundings.conditions.of(name).fitness);
  }

  /** Whether an answer that may well take long is not even begun. */
  #isOverdue({ began, exchange }: Attempt): boolean {
    if (this.#bond?.subject === "block" || exchange.isAnswered) return false;
    return this.#surroundings.timers.now() - began >= LARGE_MILLIS;
  }

  /** Whether it gave something that the answer belongs together with, so that it would not do to have it of another. */
  #isTiedTo(client: UpstreamClient): boolean {
    return this.#bond !== undefined && this.#surroundings.bonds.upstreamOf(this.#bond) === client.name;
  }

  #take(attempt: Attempt, response: UpstreamResponse): void {
    if (!this.#end(attempt, response.status)) {
      discard(response);
      return;
    }
    const unusable = problemOf(response, this.#question);
    if (unusable !== undefined) {
      discard(response);
      const facts = { mayHaveArrived: true, isOfAnswer: true };
      this.#missed(attempt, new UpstreamError(response.upstream, unusable, facts));
      return;
    }
    this.#surroundings.noteAnswer(attempt.client);
    const refusal = refusalOfCredentials(response);
    if (refusal !== undefined) {
      discard(response);
      this.#noteError(response.upstream, refusal);
      this.#goOn(attempt.client);
      return;
    }
    const verdict = verdictOn(response, this.#question);
    if (verdict === "given") {
      this.#noteGiven(attempt, response);
      this.#give(response);
    } else if (verdict === "questionable" && this.#refusals.questionable) {
      // Two say so.
      discard(response);
      this.#give(this.#refusals.questionable);
    } else {
      if (this.#refusals[verdict]) discard(response);
      else this.#refusals[verdict] = response;
      if (verdict === "questionable") this.#boundOpinions(response);
      this.#goOn(attempt.client);
    }
  }

  /** A refusal is not held back for long: who may know better may be about to hang. */
  #boundOpinions(refusal: UpstreamResponse): void {
    const mayReplay = ["state", "heavy"].includes(this.#question.method.cost);
    this.#opinionAlarm = this.#surroundings.alarms.add(mayReplay ? LARGE_MILLIS : SILENT_MILLIS, () => {
      for (const { client } of this.#attempts) client.noteOvertaken();
      this.#give(refusal);
    });
  }

  #miss(attempt: Attempt, error: Failure): void {
    if (!this.#end(attempt, "error")) return;
    if (error instanceof UpstreamError) this.#missed(attempt, error);
    else this.#fail(error);
  }

  #missed({ client, began, isGivenUp }: Attempt, error: UpstreamError): void {
    this.#surroundings.noteError(client, error, began);
    this.#noteError(client.name, error.message);
    if (error.mayHaveArrived && !isGivenUp) this.#broken ??= client;
    this.#goOn(client);
  }

  #noteError(upstream: string, message: string): void {
    this.#errors ??= new Map();
    this.#errors.set(upstream, message);
  }

  /** False when there is an answer already, so that this one was given up. */
  #end(attempt: Attempt, outcome: number | "error"): boolean {
    const { alarms, observer, timers } = this.#surroundings;
    if (attempt.alarm) alarms.delete(attempt.alarm);
    this.#attempts.splice(this.#attempts.indexOf(attempt), 1);
    if (this.#isOver) return false;
    observer?.asked(attempt.client.name, this.#question.method.name, outcome, timers.now() - attempt.began);
    return true;
  }

  #noteGiven(winner: Attempt, response: UpstreamResponse): void {
    const { bonds, conditions } = this.#surroundings;
    for (const { client, began } of this.#attempts) if (began < winner.began) client.noteOvertaken();
    if (response.status >= 300) return;
    if (this.#bond) bonds.tie(this.#bond, response.upstream);
    if (!this.#isHeadBound) return;
    const slot = toldHeadSlot(this.#question, response) ?? winner.headSlot;
    if (slot > conditions.floor) conditions.raiseFloor(slot);
  }

  #endWithoutMore(): void {
    const { questionable, failed, lacking } = this.#refusals;
    if (questionable) {
      this.#give(questionable);
      return;
    }
    if (this.#broken && !this.#isRepeated) {
      this.#isRepeated = true;
      this.#tried.splice(this.#tried.indexOf(this.#broken), 1);
      this.#goOn(this.#broken);
      return;
    }
    const { choice, timers } = this.#surroundings;
    const isFloorTooHigh = this.#isHeadBound && choice.isSomebodyLagging(this.#tried);
    this.#floorDeadline ??= timers.now() + FLOOR_WAIT_MILLIS;
    if (isFloorTooHigh && timers.now() < this.#floorDeadline) this.#waitForFloor(this.#floorDeadline - timers.now());
    else if (failed ?? lacking) this.#give((failed ?? lacking)!);
    else this.#fail(this.#nobody(isFloorTooHigh));
  }

  /** Until somebody comes as far as clients have been told, or the floor is let go. */
  #waitForFloor(millis: number): void {
    const { alarms, conditions } = this.#surroundings;
    const goOn = () => {
      this.#endFloorWait?.();
      this.#goOn();
    };
    const stop = conditions.onChange(goOn);
    const alarm = alarms.add(millis, goOn);
    this.#endFloorWait = () => {
      this.#endFloorWait = undefined;
      stop();
      alarms.delete(alarm);
    };
  }

  #nobody(isFloorTooHigh: boolean): Failure {
    const { choice, conditions } = this.#surroundings;
    if (!isFloorTooHigh) {
      const others = this.#tried.map(({ name }) => name).filter((name) => !this.#errors?.has(name));
      return nobodyAnswers(conditions, choice, { errors: this.#errors, others: new Set(others) });
    }
    return unavailable(`No upstream has come to slot ${conditions.floor}, which clients have been told of.`, {
      detail: "It is waited for, and let go after two slots: ask again.",
    });
  }

  #give(response: UpstreamResponse): void {
    for (const { client } of this.#attempts) this.overtaken.push(client);
    this.#finish("was slower than another upstream");
    for (const refusal of Object.values(this.#refusals)) if (refusal !== response) discard(refusal);
    this.#resolve(response);
  }

  #fail(reason: Failure): void {
    this.#finish("was not waited for any longer");
    this.#reject(reason);
  }

  #finish(reasonForOthers: string): void {
    this.#isOver = true;
    this.#endListening();
    this.#endFloorWait?.();
    if (this.#opinionAlarm) this.#surroundings.alarms.delete(this.#opinionAlarm);
    for (const { exchange } of this.#attempts) exchange.abort(reasonForOthers);
  }
}

/** Calls back when nobody waits any more; the returned function ends that. */
function onOver(waiting: Waiting, listener: (reason: Failure) => void): () => void {
  if (waiting.onOver) return waiting.onOver(listener);
  const { signal } = waiting;
  const onAbort = () => listener(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}
