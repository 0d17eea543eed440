import type { Timers } from "../../../async/timers.ts";
import { type Failure, TimeLimitFailure, unavailable } from "../../../errors/failure.ts";
import type { ByteBudget } from "../../../server/http/request/byte-budget.ts";
import type { Cancellation } from "../../../server/method-table.ts";
import type { GatewayObserver, RequestOutcome } from "../../metrics/gateway-observer.ts";
import { type ChainSpec, slotAt } from "../../network/chain-spec.ts";
import type { GatewaySettings } from "../../settings.ts";
import { withCheckedEnd } from "../../validation/checked-end.ts";
import { needsWholeBody } from "../../validation/requested-roots.ts";
import { findViolation } from "../../validation/response-validator.ts";
import { discardBody } from "../client/fetch.ts";
import type { ExchangeListener, HttpExchange } from "../client/http-exchange.ts";
import { SHORT_STALL_MILLIS, UNRESPONSIVE_MILLIS, type UpstreamClient } from "../client/upstream-client.ts";
import { maxCredibleSlot } from "../health/assess-health.ts";
import { isHeadBound, reportedHeadSlot } from "../selection/head-bound.ts";
import { noUpstreamError } from "../selection/no-upstream-error.ts";
import { type RouteKey, routeKeyOf, type StickyRoutes } from "../selection/sticky-routes.ts";
import type { UpstreamSelector } from "../selection/upstream-selector.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream-call.ts";
import { type HealthTracker, isUsable } from "../upstream-health.ts";
import type { HedgeBudget } from "./hedge-budget.ts";
import { classifyResponse, credentialError, invalidResponseReason, type ResponseVerdict } from "./response-verdict.ts";
import type { Timeout, TimeoutQueue } from "./timeout-queue.ts";

/** Minimum delay before a hedge. */
const MIN_HEDGE_MILLIS = 5;
/** Time without response headers after which a heavy read is hedged and a late upstream is abandoned. */
const LONG_TIMEOUT_MILLIS = 10_000;
/** How long a head-bound read waits for an upstream to reach the head floor. */
const HEAD_FLOOR_TIMEOUT_MILLIS = 10_000;

/** How far the heads of two upstreams may differ on a dev chain that is ahead of the clock. */
const MAX_HEAD_DIFFERENCE = 3;

/** Dependencies shared by all reads. */
export interface ReadContext {
  readonly health: HealthTracker;
  readonly selector: UpstreamSelector;
  readonly stickyRoutes: StickyRoutes;
  readonly budget: HedgeBudget;
  readonly timeouts: TimeoutQueue;
  readonly timers: Pick<Timers, "now" | "unixNow">;
  readonly settings: Pick<GatewaySettings, "hedgeDelayMillis" | "validation">;
  readonly observer: GatewayObserver | undefined;
  /** Network of valid answers. Undefined skips the comparison. */
  readonly chainSpec: ChainSpec | undefined;
  /** Memory for bodies that are checked as a whole. */
  readonly wholeBodyBudget: ByteBudget;
  recordResponse(client: UpstreamClient): void;
  /** An upstream did not answer a request that was sent at `startedAt`. */
  recordError(client: UpstreamClient, error: UpstreamError, startedAt: number): void;
}

/** A request to one upstream. */
interface Attempt {
  readonly client: UpstreamClient;
  readonly exchange: HttpExchange;
  readonly startedAt: number;
  /** Head slot of the upstream when the request was sent. */
  readonly headSlot: number;
  timeout: Timeout | undefined;
  /** True if it was aborted because it took too long. */
  isTimedOut: boolean;
}

interface ReadOptions {
  /** Upstreams that are skipped. The read adds those that it selects. */
  tried?: UpstreamClient[];
  /** True for reads of a quorum: an upstream is abandoned as soon as it is late or down, even if no other is left. */
  failsFast?: boolean;
}

/** One read with failover and hedging: tries upstreams until one gives an acceptable response. */
export class UpstreamRead {
  /** Rejects with a `Failure` if no upstream answers or the caller stops waiting. */
  readonly response: Promise<UpstreamResponse>;
  /** Upstreams that were cancelled because another one answered first. */
  readonly lostHedges: UpstreamClient[] = [];
  readonly #call: UpstreamCall;
  readonly #context: ReadContext;
  readonly #tried: UpstreamClient[];
  readonly #failsFast: boolean;
  readonly #isHeadBound: boolean;
  readonly #routeKey: RouteKey | undefined;
  readonly #attempts: Attempt[] = [];
  #errors: Map<string, string> | undefined;
  /**
   * Upstreams that failed. The failures are recorded only if another upstream answers, so that one bad request cannot
   * open all circuits.
   */
  #failed: UpstreamClient[] | undefined;
  readonly #stopListening: () => void;
  #resolve!: (response: UpstreamResponse) => void;
  #reject!: (error: unknown) => void;
  #isDone = false;
  /** Responses to use if no better one arrives. */
  readonly #fallbacks: Partial<Record<ResponseVerdict, UpstreamResponse>> = {};
  /** Ends the wait for a confirmation. */
  #confirmationTimeout: Timeout | undefined;
  /** An upstream that closed the connection, perhaps only a stale keep-alive connection. */
  #disconnected: UpstreamClient | undefined;
  #hasRetried = false;
  /** Head slots of answers below the head floor. */
  readonly #belowHeadFloor = new Map<UpstreamClient, number>();
  /** Head slot of an answer beyond the clock. */
  #futureSlot: number | undefined;
  #headFloorDeadline: number | undefined;
  #stopHeadFloorWait: (() => void) | undefined;

  constructor(call: UpstreamCall, context: ReadContext, { tried = [], failsFast = false }: ReadOptions = {}) {
    this.#call = call;
    this.#context = context;
    this.#tried = tried;
    this.#failsFast = failsFast;
    this.#routeKey = routeKeyOf(call.request);
    this.#isHeadBound = isHeadBound(call);
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopListening = onAbort(call.cancellation, (reason) => this.#onAbort(reason));
    context.budget.recordRead();
    this.#proceed();
  }

  /** Heavy reads and block production are not hedged early, unless a policy says so. */
  get #isHedged(): boolean {
    if (this.#call.policy?.hedgeDelayMillis !== undefined) return true;
    return this.#call.method.cost !== "heavy" && this.#routeKey?.subject !== "block";
  }

  /** Sends the request to the next upstream, waits for pending attempts, or finishes with the best response so far. */
  #proceed(after?: UpstreamClient): void {
    const next = this.#selectNext();
    if (next === undefined) {
      const { unconfirmed } = this.#fallbacks;
      if (this.#attempts.length === 0) this.#finishExhausted();
      else if (unconfirmed && this.#attempts.every(({ client }) => this.#isDegraded(client)))
        this.#succeed(unconfirmed);
      return;
    }
    if (after) this.#context.observer?.onFailover(after.name, "failed");
    this.#send(next);
  }

  #selectNext(): UpstreamClient | undefined {
    const { stickyRoutes, selector } = this.#context;
    return selector.select({
      isHeadBound: this.#isHeadBound,
      tried: this.#tried,
      preferred: this.#routeKey && stickyRoutes.get(this.#routeKey),
      deprioritized: this.#call.deprioritized,
      slot: this.#routeKey?.slot,
      tags: this.#call.policy?.tags,
      isConfirmation: this.#fallbacks.unconfirmed !== undefined,
    });
  }

  #send(client: UpstreamClient): void {
    const { selector, health, timers, settings, wholeBodyBudget } = this.#context;
    const { method, request } = this.#call;
    const isWhole = settings.validation && needsWholeBody(this.#call);
    const options = { cost: method.cost, wholeBodyBudget: isWhole ? wholeBodyBudget : undefined };
    const listener: ExchangeListener = {
      onResponse: (response) => this.#onResponse(attempt, response),
      onFailure: (error) => this.#onFailure(attempt, error),
    };
    const attempt: Attempt = {
      client,
      startedAt: timers.now(),
      headSlot: health.of(client.name).head?.slot ?? 0,
      exchange: client.start(request, listener, options),
      timeout: undefined,
      isTimedOut: false,
    };
    selector.recordRequest(client);
    this.#tried.push(client);
    this.#attempts.push(attempt);
    this.#armTimeout(attempt, this.#hedgeDelay(client));
  }

  /** Returns how long to wait before another upstream is tried. */
  #hedgeDelay(client: UpstreamClient): number {
    const { policy } = this.#call;
    if (policy?.hedgeDelayMillis !== undefined) return policy.hedgeDelayMillis;
    if (!this.#isHedged) return UNRESPONSIVE_MILLIS;
    const p95 = client.latencies.p95(this.#call.method.cost) ?? this.#context.settings.hedgeDelayMillis;
    return Math.max(p95, MIN_HEDGE_MILLIS);
  }

  #armTimeout(attempt: Attempt, millis: number): void {
    attempt.timeout = this.#context.timeouts.add(millis, () => this.#onTimeout(attempt));
  }

  #onTimeout(attempt: Attempt): void {
    const { client } = attempt;
    const { budget, observer } = this.#context;
    const isDegraded = this.#isDegraded(client);
    const isStalled = isDegraded || (this.#isHedged && client.isUnresponsive) || this.#isBodyLate(attempt);
    const mayHedge = this.#isHedged || this.#isOverdue(attempt);
    const maySend = isStalled || (mayHedge && !this.#isPinnedTo(client) && this.#attempts.length === 1);
    const next = maySend ? this.#selectNext() : undefined;
    if (next === undefined && isDegraded && (this.#failsFast || (this.#isHedged && this.#isOverdue(attempt)))) {
      attempt.isTimedOut = true;
      const { state } = this.#context.health.of(client.name);
      attempt.exchange.abort(this.#failsFast ? `is ${state}` : `did not answer within ${LONG_TIMEOUT_MILLIS / 1000} s`);
      return;
    }
    if (next === undefined || !(isStalled || budget.take())) {
      this.#armTimeout(attempt, this.#isHedged ? SHORT_STALL_MILLIS : UNRESPONSIVE_MILLIS);
      return;
    }
    this.#armTimeout(attempt, LONG_TIMEOUT_MILLIS);
    observer?.onFailover(client.name, "slow");
    this.#send(next);
  }

  /** True if the upstream has become late, down or foreign. */
  #isDegraded({ name }: UpstreamClient): boolean {
    return !["ready", "behind"].includes(this.#context.health.of(name).state);
  }

  /** True if the headers have arrived, but the body does not follow. */
  #isBodyLate({ exchange }: Attempt): boolean {
    return exchange.isBodyLate(this.#call.method.cost === "heavy" ? LONG_TIMEOUT_MILLIS : UNRESPONSIVE_MILLIS);
  }

  /** True if no response headers have arrived for a long time. Block production may take longer. */
  #isOverdue({ startedAt, exchange }: Attempt): boolean {
    if (this.#routeKey?.subject === "block" || exchange.hasResponse) return false;
    return this.#context.timers.now() - startedAt >= LONG_TIMEOUT_MILLIS;
  }

  /** True if the sticky route pins the read to this upstream, so that a hedge would give an inconsistent answer. */
  #isPinnedTo(client: UpstreamClient): boolean {
    return this.#routeKey !== undefined && this.#context.stickyRoutes.get(this.#routeKey) === client.name;
  }

  #onResponse(attempt: Attempt, received: UpstreamResponse): void {
    const headSlot = this.#isHeadBound ? reportedHeadSlot(this.#call, received) : undefined;
    const invalid = this.#isDone ? undefined : this.#findProblem(received, headSlot);
    if (!this.#endAttempt(attempt, invalid === undefined ? received.status : "invalid")) {
      discardBody(received);
      return;
    }
    if (invalid !== undefined) {
      discardBody(received);
      const options = { mayHaveArrived: true, isInvalidResponse: true };
      this.#handleError(attempt, new UpstreamError(received.upstream, invalid, options));
      return;
    }
    const response = this.#checkStream(attempt, received);
    this.#context.recordResponse(attempt.client);
    if (headSlot !== undefined && headSlot < this.#context.health.headFloor) {
      this.#belowHeadFloor.set(attempt.client, headSlot);
      this.#proceed();
      return;
    }
    const rejection = credentialError(response);
    if (rejection !== undefined) {
      discardBody(response);
      this.#addFailed(attempt.client);
      this.#recordError(response.upstream, rejection);
      this.#proceed(attempt.client);
      return;
    }
    const verdict = classifyResponse(response, this.#call);
    if (verdict === "failed") this.#addFailed(attempt.client);
    else this.#recordAnswer(attempt.client);
    if (verdict === "accepted") {
      this.#recordSuccess(attempt, response, headSlot);
      this.#succeed(response);
    } else if (verdict === "unconfirmed" && this.#fallbacks.unconfirmed) {
      // The second upstream confirms the first response.
      discardBody(response);
      this.#succeed(this.#fallbacks.unconfirmed);
    } else {
      if (this.#fallbacks[verdict]) discardBody(response);
      else this.#fallbacks[verdict] = response;
      if (verdict === "unconfirmed") this.#limitConfirmation(response);
      this.#proceed(attempt.client);
    }
  }

  /** Returns why a response is not a valid answer to the call, as a sentence. */
  #findProblem(response: UpstreamResponse, headSlot: number | undefined): string | undefined {
    const problem = invalidResponseReason(response, this.#call);
    if (problem !== undefined || !this.#context.settings.validation) return problem;
    const violation =
      findViolation(this.#call, response, { chainSpec: this.#context.chainSpec }) ??
      (headSlot !== undefined && this.#isInFuture(headSlot) ? `slot ${headSlot} is in the future` : undefined);
    return violation && `${response.upstream} answered ${this.#call.method.name} with an invalid result: ${violation}.`;
  }

  /** True for a head beyond the clock, unless there is only one upstream or a second one confirms it. */
  #isInFuture(headSlot: number): boolean {
    if (this.#isCredible(headSlot) || this.#context.health.all.filter(isUsable).length < 2) return false;
    const other = this.#futureSlot ?? Number.POSITIVE_INFINITY;
    this.#futureSlot = Math.min(headSlot, other);
    return other === Number.POSITIVE_INFINITY || headSlot > other + MAX_HEAD_DIFFERENCE;
  }

  #isCredible(headSlot: number): boolean {
    const { health, chainSpec, timers } = this.#context;
    if (chainSpec === undefined || headSlot <= health.headFloor) return true;
    const clockSlot = slotAt(chainSpec, timers.unixNow());
    const all = health.all.filter(isUsable);
    return headSlot <= maxCredibleSlot({ clockSlot, maxSlotsBehind: MAX_HEAD_DIFFERENCE, all });
  }

  /** Checks the end of a streamed answer. If it is invalid, the stream fails instead of completing. */
  #checkStream({ client, startedAt }: Attempt, response: UpstreamResponse): UpstreamResponse {
    if (response.status !== 200 || response.start === undefined || !this.#context.settings.validation) return response;
    return withCheckedEnd(this.#call, response, (error) => {
      client.breaker.recordFailure();
      this.#context.recordError(client, error, startedAt);
    });
  }

  /** Limits the wait for a confirmation, in case the other upstream hangs. */
  #limitConfirmation(rejection: UpstreamResponse): void {
    const mayReplay = ["state", "heavy"].includes(this.#call.method.cost);
    this.#confirmationTimeout = this.#context.timeouts.add(
      mayReplay ? LONG_TIMEOUT_MILLIS : UNRESPONSIVE_MILLIS,
      () => {
        for (const { client } of this.#attempts) client.recordLostHedge();
        this.#succeed(rejection);
      },
    );
  }

  #onFailure(attempt: Attempt, error: Failure): void {
    if (!this.#endAttempt(attempt, "error")) return;
    if (error instanceof UpstreamError) this.#handleError(attempt, error);
    else this.#fail(error);
  }

  #handleError({ client, exchange, startedAt, isTimedOut }: Attempt, error: UpstreamError): void {
    this.#context.recordError(client, error, startedAt);
    this.#addFailed(client);
    this.#recordError(client.name, error.message);
    if (error.mayHaveArrived && !isTimedOut && !exchange.isTooSlow) this.#disconnected ??= client;
    this.#proceed(client);
  }

  #addFailed(client: UpstreamClient): void {
    this.#failed ??= [];
    this.#failed.push(client);
  }

  #recordAnswer(client: UpstreamClient): void {
    client.breaker.recordSuccess();
    for (const failed of this.#failed ?? []) if (failed !== client) failed.breaker.recordFailure();
    this.#failed = undefined;
  }

  #recordError(upstream: string, message: string): void {
    this.#errors ??= new Map();
    this.#errors.set(upstream, message);
  }

  /** Returns false if the read is already over. */
  #endAttempt(attempt: Attempt, outcome: RequestOutcome): boolean {
    const { timeouts, observer, timers } = this.#context;
    if (attempt.timeout) timeouts.delete(attempt.timeout);
    this.#attempts.splice(this.#attempts.indexOf(attempt), 1);
    if (this.#isDone) return false;
    observer?.onRequestEnd(attempt.client.name, this.#call.method.name, outcome, timers.now() - attempt.startedAt);
    return true;
  }

  #recordSuccess(winner: Attempt, response: UpstreamResponse, headSlot = winner.headSlot): void {
    const { stickyRoutes, health } = this.#context;
    for (const attempt of this.#attempts) {
      if (attempt.startedAt < winner.startedAt) attempt.client.recordLostHedge();
      if (this.#isBodyLate(attempt)) attempt.client.breaker.recordFailure();
    }
    if (response.status >= 300) return;
    if (this.#routeKey) stickyRoutes.pin(this.#routeKey, response.upstream);
    if (this.#isHeadBound && headSlot > health.headFloor && this.#isCredible(headSlot)) health.raiseHeadFloor(headSlot);
  }

  #finishExhausted(): void {
    const { unconfirmed, failed, unsupported } = this.#fallbacks;
    if (unconfirmed) {
      this.#succeed(unconfirmed);
      return;
    }
    if (this.#disconnected && !this.#hasRetried) {
      this.#hasRetried = true;
      this.#tried.splice(this.#tried.indexOf(this.#disconnected), 1);
      this.#proceed(this.#disconnected);
      return;
    }
    const { selector, timers } = this.#context;
    const constraints = { tags: this.#call.policy?.tags, includesLate: !this.#failsFast };
    const isBelowHeadFloor =
      this.#belowHeadFloor.size > 0 || (this.#isHeadBound && selector.hasLaggingUpstream(this.#tried, constraints));
    this.#headFloorDeadline ??= timers.now() + HEAD_FLOOR_TIMEOUT_MILLIS;
    if (isBelowHeadFloor && timers.now() < this.#headFloorDeadline)
      this.#waitForHeadFloor(this.#headFloorDeadline - timers.now());
    else if (failed ?? unsupported) this.#succeed((failed ?? unsupported)!);
    else this.#fail(this.#noUpstreamError(isBelowHeadFloor));
  }

  /** Waits until an upstream reaches the head floor, or the floor is lowered. */
  #waitForHeadFloor(millis: number): void {
    const { timeouts, health } = this.#context;
    const proceed = () => {
      this.#stopHeadFloorWait?.();
      // Its answers may be older than its events for a moment.
      for (const client of this.#belowHeadFloor.keys()) this.#tried.splice(this.#tried.indexOf(client), 1);
      this.#belowHeadFloor.clear();
      this.#proceed();
    };
    const stop = health.onChange(proceed);
    const timeout = timeouts.add(this.#belowHeadFloor.size > 0 ? SHORT_STALL_MILLIS : millis, proceed);
    this.#stopHeadFloorWait = () => {
      this.#stopHeadFloorWait = undefined;
      stop();
      timeouts.delete(timeout);
    };
  }

  #noUpstreamError(isBelowHeadFloor: boolean): Failure {
    const { selector, health } = this.#context;
    if (!isBelowHeadFloor) {
      const responded = this.#tried.map(({ name }) => name).filter((name) => !this.#errors?.has(name));
      return noUpstreamError(health, selector, { errors: this.#errors, responded: new Set(responded) });
    }
    const untried = health.all.filter(({ upstream }) => this.#tried.every(({ name }) => name !== upstream));
    const each = untried.map(({ upstream, state, head }) => `${upstream} is ${state}, at slot ${head?.slot ?? 0}.`);
    const answers = Array.from(this.#belowHeadFloor, ([{ name }, slot]) => `${name} answered with slot ${slot}.`);
    const whose = this.#tried.length === answers.length ? "No upstream" : "No other upstream";
    const problem = `${whose} has reached slot ${health.headFloor}, the newest head that clients have seen.`;
    return unavailable([problem, ...answers, ...each].join(" "), {
      detail: "Retry: after two slots, an earlier head is served.",
    });
  }

  /** Adds the names of the pending upstreams to a timeout. */
  #withPendingNames(reason: Failure): Failure {
    if (reason.kind !== "unavailable" || this.#attempts.length === 0) return reason;
    const names = this.#attempts.map(({ client }) => client.name).join(" and ");
    return unavailable(`${reason.message} Waiting for ${names}.`);
  }

  #onAbort(reason: Failure): void {
    const failure = this.#withPendingNames(reason);
    if (reason instanceof TimeLimitFailure || reason.cause instanceof TimeLimitFailure) this.#recordTimeouts();
    this.#fail(failure);
  }

  /** Records that the pending upstreams did not answer within the time limit of the read. */
  #recordTimeouts(): void {
    const { observer, timers } = this.#context;
    const { name } = this.#call.method;
    for (const { client, startedAt } of this.#attempts) {
      const millis = timers.now() - startedAt;
      observer?.onRequestEnd(client.name, name, "error", millis);
      const message = `${client.name} did not answer ${name} within ${Math.round(millis) / 1000} s.`;
      this.#context.recordError(client, new UpstreamError(client.name, message, { mayHaveArrived: true }), startedAt);
      // Heavy reads and block production may take longer than the limit.
      if (this.#isHedged) client.breaker.recordFailure();
    }
  }

  #succeed(response: UpstreamResponse): void {
    for (const { client } of this.#attempts) this.lostHedges.push(client);
    this.#finish("lost the race against another upstream");
    for (const rejection of Object.values(this.#fallbacks)) if (rejection !== response) discardBody(rejection);
    this.#resolve(response);
  }

  #fail(reason: Failure): void {
    this.#finish("was cancelled by the client");
    this.#reject(reason);
  }

  #finish(reasonForOthers: string): void {
    this.#isDone = true;
    this.#stopListening();
    this.#stopHeadFloorWait?.();
    if (this.#confirmationTimeout) this.#context.timeouts.delete(this.#confirmationTimeout);
    for (const { exchange } of this.#attempts) exchange.abort(reasonForOthers);
  }
}

/** Calls the listener when the caller stops waiting. Returns a function that removes it. */
function onAbort(cancellation: Cancellation, listener: (reason: Failure) => void): () => void {
  if (cancellation.onAbort) return cancellation.onAbort(listener);
  const { signal } = cancellation;
  const onAbort = () => listener(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}
