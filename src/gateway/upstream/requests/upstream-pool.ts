import type { Timers } from "../../../async/timers.ts";
import { unavailable } from "../../../errors/failure.ts";
import type { Logger } from "../../../log/logger.ts";
import { ByteBudget } from "../../../server/http/request/byte-budget.ts";
import { upstreamBudgets } from "../../clients/budget.ts";
import type { BudgetStore } from "../../clients/budget-store.ts";
import type { GatewayObserver } from "../../metrics/gateway-observer.ts";
import type { ChainSpec } from "../../network/chain-spec.ts";
import type { GatewaySettings } from "../../settings.ts";
import { discardBody } from "../client/fetch.ts";
import { UpstreamClient } from "../client/upstream-client.ts";
import { noUpstreamError, unmetQuorum } from "../selection/no-upstream-error.ts";
import { isBlindedBlock, routeKeyOf, StickyRoutes } from "../selection/sticky-routes.ts";
import { hasTag, UpstreamSelector } from "../selection/upstream-selector.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream-call.ts";
import { type HealthTracker, isUsable } from "../upstream-health.ts";
import { isHtml } from "./error-response.ts";
import { HedgeBudget } from "./hedge-budget.ts";
import { unacknowledgedReason } from "./response-verdict.ts";
import { goesToAllUpstreams, mayResend, submissionTimeoutError, submitToUpstreams } from "./submission.ts";
import { TimeoutQueue } from "./timeout-queue.ts";
import { type ReadContext, UpstreamRead } from "./upstream-read.ts";

/** Consecutive errors after which an upstream is reported as failing. */
const MAX_CONSECUTIVE_ERRORS = 5;
const SUBMISSION_TIMEOUT_MILLIS = 30_000;
const LOG_INTERVAL_MILLIS = 60_000;
/** Memory for bodies that are checked as a whole: three of the largest size, or hundreds of typical size. */
const WHOLE_BODY_BYTES = 80 * 1024 * 1024;

interface ConsecutiveErrors {
  readonly count: number;
  /** When the last error occurred. */
  readonly at: number;
}

const NO_ERRORS: ConsecutiveErrors = { count: 0, at: Number.NEGATIVE_INFINITY };

interface UpstreamPoolOptions {
  settings: Pick<GatewaySettings, "upstreams" | "broadcast" | "hedgeDelayMillis" | "validation">;
  health: HealthTracker;
  timers: Timers;
  logger: Logger;
  observer?: GatewayObserver;
  /** Called after several consecutive requests to an upstream failed. */
  onRepeatedFailure?(upstream: string, reason: string): void;
  /** By default private to this pool. */
  stickyRoutes?: StickyRoutes | undefined;
  /** Without it, budgets of upstreams are ignored. */
  budgetStore?: BudgetStore;
  /** Network of valid answers. Without it, forks and constants are not compared. */
  chainSpec?: ChainSpec | undefined;
  /** Time limit of a submission. By default only that of each request. */
  submissionMillis?: number | undefined;
}

/** All upstreams. Reads go to the best one, with hedging and failover; submissions to one or several. */
export class UpstreamPool {
  readonly #clients: readonly UpstreamClient[];
  readonly #health: HealthTracker;
  readonly #broadcast: GatewaySettings["broadcast"];
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #observer: GatewayObserver | undefined;
  readonly #onRepeatedFailure: UpstreamPoolOptions["onRepeatedFailure"];
  readonly #submissionMillis: number | undefined;
  readonly #selector: UpstreamSelector;
  readonly #stickyRoutes: StickyRoutes;
  readonly #timeouts: TimeoutQueue;
  readonly #context: ReadContext;
  readonly #errors = new Map<UpstreamClient, ConsecutiveErrors>();
  /** When the next invalid response of an upstream is logged. */
  readonly #nextLogAt = new Map<UpstreamClient, number>();

  constructor({
    settings,
    health,
    timers,
    logger,
    observer,
    onRepeatedFailure,
    stickyRoutes = new StickyRoutes(),
    budgetStore,
    chainSpec,
    submissionMillis,
  }: UpstreamPoolOptions) {
    this.#clients = settings.upstreams.map((upstream) => {
      const { name } = upstream;
      const onCircuitOpen = (failures: number, requests: number) => {
        observer?.onCircuitOpen(name);
        logger.warn("Circuit breaker opened", { upstream: name, failures, requests });
      };
      const onCircuitClose = () => logger.info("Circuit breaker closed", { upstream: name });
      const budgets = budgetStore ? upstreamBudgets(upstream, { store: budgetStore, timers }) : [];
      return new UpstreamClient(upstream, { timers, budgets, onCircuitOpen, onCircuitClose });
    });
    this.#health = health;
    this.#broadcast = settings.broadcast;
    this.#timers = timers;
    this.#logger = logger;
    this.#observer = observer;
    this.#onRepeatedFailure = onRepeatedFailure;
    this.#submissionMillis = submissionMillis;
    this.#stickyRoutes = stickyRoutes;
    this.#selector = new UpstreamSelector(this.#clients, health);
    this.#timeouts = new TimeoutQueue(timers);
    this.#context = {
      health,
      selector: this.#selector,
      stickyRoutes,
      budget: new HedgeBudget(),
      timeouts: this.#timeouts,
      timers,
      settings,
      observer,
      chainSpec,
      wholeBodyBudget: new ByteBudget(WHOLE_BODY_BYTES),
      recordResponse: (client) => this.#recordResponse(client),
      recordError: (client, error, startedAt) => this.#recordError(client, error, startedAt),
    };
  }

  /** Returns the response of the best upstream with any status. Rejects with a `Failure` if there is none. */
  read(call: UpstreamCall): Promise<UpstreamResponse> {
    const { cancellation } = call;
    // With `onAbort`, the signal is created lazily and must not be touched.
    if (cancellation.onAbort === undefined && cancellation.signal.aborted)
      return Promise.reject(cancellation.signal.reason);
    return new UpstreamRead(call, this.#context).response;
  }

  /**
   * Reads from `count` different upstreams in parallel. If too few are usable, rejects at once with a `Failure` that
   * names the unusable ones.
   */
  async readFromMany(call: UpstreamCall, count: number): Promise<PromiseSettledResult<UpstreamResponse>[]> {
    const allowed = this.#clients.filter((client) => hasTag(client, call.policy?.tags));
    const health = allowed.map(({ name }) => this.#health.of(name));
    if (health.filter(isUsable).length < count) throw unavailable(unmetQuorum(count, health));
    const tried: UpstreamClient[] = [];
    const options = { tried, failsFast: true };
    const reads = Array.from({ length: count }, () => new UpstreamRead(call, this.#context, options));
    const results = await Promise.allSettled(reads.map(({ response }) => response));
    // An upstream that lost a hedge is needed if too few others answer.
    const lostHedges = reads.flatMap((read) => read.lostHedges);
    if (lostHedges.length === 0 || results.every(isAnswered) || call.cancellation.signal.aborted) return results;
    const excluded = this.#clients.filter((client) => !lostHedges.includes(client));
    return Promise.all(
      results.map(async (result) => {
        if (isAnswered(result)) return result;
        const [retry] = await Promise.allSettled([
          new UpstreamRead(call, this.#context, { tried: excluded, failsFast: true }).response,
        ]);
        const [answer, dropped] = isAnswered(retry) ? [retry, result] : [result, retry];
        if (dropped.status === "fulfilled") discardBody(dropped.value);
        return answer;
      }),
    );
  }

  /**
   * Submits to one or several upstreams. Rejects with a `Failure` if none is available, and with an `UpstreamError` if
   * the outcome is unknown. Ignores cancellation, because an aborted submission would have an unknown outcome.
   */
  async submit(call: UpstreamCall): Promise<UpstreamResponse> {
    const routeKey = routeKeyOf(call.request);
    const ranked = this.#selector.ranked({
      tags: call.policy?.tags,
      ...(routeKey && {
        preferred: this.#stickyRoutes.get(routeKey),
        slot: routeKey.slot,
        needsPreferred: isBlindedBlock(call.request),
      }),
    });
    if (ranked.length === 0) throw noUpstreamError(this.#health, this.#selector);
    const pending = new Set<string>();
    const send = (client: UpstreamClient) => {
      pending.add(client.name);
      return this.#send(client, call).finally(() => pending.delete(client.name));
    };
    const submitted = submitToUpstreams(ranked, this.#targetCount(call, ranked), send, mayResend(call));
    const response = await this.#inTime(submitted, pending);
    if (routeKey && response.status < 300) this.#stickyRoutes.pin(routeKey, response.upstream);
    return response;
  }

  /** True if no request is running. */
  get isIdle(): boolean {
    return this.#clients.every(({ pendingRequests }) => pendingRequests === 0);
  }

  async close(): Promise<void> {
    this.#timeouts.close();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Rejects with an error that names the pending upstreams if the time limit is exceeded. Cancels no request. */
  #inTime(submitted: Promise<UpstreamResponse>, pending: ReadonlySet<string>): Promise<UpstreamResponse> {
    const millis = this.#submissionMillis;
    if (millis === undefined) return submitted;
    return new Promise((resolve, reject) => {
      const timeout = this.#timeouts.add(millis, () => {
        reject(submissionTimeoutError([...pending], millis));
        submitted.then(discardBody, () => {});
      });
      submitted.finally(() => this.#timeouts.delete(timeout)).then(resolve, reject);
    });
  }

  /** Upstreams that are not ready are used only if none is ready. */
  #targetCount(call: UpstreamCall, ranked: readonly UpstreamClient[]): number {
    const ready = ranked.filter(({ name }) => this.#health.of(name).state === "ready").length || ranked.length;
    return goesToAllUpstreams(call) || this.#broadcast === "all" ? ready : Math.min(this.#broadcast, ready);
  }

  async #send(client: UpstreamClient, { method, request }: UpstreamCall): Promise<UpstreamResponse> {
    const startedAt = this.#timers.now();
    this.#selector.recordRequest(client);
    try {
      const options = { cost: method.cost, headersTimeoutMs: SUBMISSION_TIMEOUT_MILLIS, idempotent: false };
      const response = await client.request(request, options);
      this.#requireAcknowledgement(response);
      this.#observer?.onRequestEnd(client.name, method.name, response.status, this.#timers.now() - startedAt);
      this.#recordResponse(client);
      return response;
    } catch (error) {
      this.#observer?.onRequestEnd(client.name, method.name, "error", this.#timers.now() - startedAt);
      if (error instanceof UpstreamError) {
        this.#recordError(client, error, startedAt);
        this.#logger.warn("Submission to upstream failed", { method: method.name, error: error.message });
      }
      throw error;
    }
  }

  /** Throws if it is unknown whether a submission was accepted: a proxy may have answered for the node. */
  #requireAcknowledgement(response: UpstreamResponse): void {
    const reason = this.#context.settings.validation || isHtml(response) ? unacknowledgedReason(response) : undefined;
    if (reason === undefined) return;
    discardBody(response);
    throw new UpstreamError(response.upstream, reason, { mayHaveArrived: true, isInvalidResponse: true });
  }

  #recordResponse(client: UpstreamClient): void {
    if (this.#errors.size > 0) this.#errors.delete(client);
  }

  /**
   * Counts consecutive errors. Requests that were pending when another failed may share its cause and are not counted.
   * An invalid response does not count either: the upstream is reachable, and polls determine its health.
   */
  #recordError(client: UpstreamClient, { message, isInvalidResponse }: UpstreamError, startedAt: number): void {
    if (isInvalidResponse) {
      this.#logInvalidResponse(client, message);
      return;
    }
    const { count, at } = this.#errors.get(client) ?? NO_ERRORS;
    if (startedAt < at) return;
    const errors = count + 1;
    this.#errors.set(client, { count: errors % MAX_CONSECUTIVE_ERRORS, at: this.#timers.now() });
    if (errors === MAX_CONSECUTIVE_ERRORS)
      this.#onRepeatedFailure?.(client.name, `${errors} requests in a row failed. Last error: ${message}`);
  }

  /** Logs at most one invalid response per upstream and minute. */
  #logInvalidResponse(client: UpstreamClient, error: string): void {
    const now = this.#timers.now();
    if (now < (this.#nextLogAt.get(client) ?? Number.NEGATIVE_INFINITY)) return;
    this.#nextLogAt.set(client, now + LOG_INTERVAL_MILLIS);
    this.#logger.warn("Invalid response from upstream", { upstream: client.name, error });
  }
}

/** True for a response that is not a server error. */
function isAnswered(result: PromiseSettledResult<UpstreamResponse>): boolean {
  return result.status === "fulfilled" && result.value.status < 500;
}
