import type { Timers } from "../async/timers.ts";
import { TimeLimitFailure, unavailable } from "../errors/failure.ts";
import type { Logger } from "../log/logger.ts";
import type { Cancellation } from "../server/method-table.ts";
import type { RequestTrace } from "../server/request-trace.ts";
import { CachingReader } from "./cache/caching-reader.ts";
import type { UpstreamAccess } from "./calls/standard-operations.ts";
import type { BudgetStore } from "./clients/budget-store.ts";
import type { GatewayObserver } from "./metrics/gateway-observer.ts";
import type { ChainSpec } from "./network/chain-spec.ts";
import type { MethodPolicies } from "./policies/method-policies.ts";
import type { GatewaySettings } from "./settings.ts";
import { QuorumReader } from "./upstream/requests/quorum.ts";
import { UpstreamPool } from "./upstream/requests/upstream-pool.ts";
import type { StickyRoutes } from "./upstream/selection/sticky-routes.ts";
import type { UpstreamCall, UpstreamResponse } from "./upstream/upstream-call.ts";
import type { HealthTracker } from "./upstream/upstream-health.ts";

export interface PipelineDeps {
  readonly chainSpec: ChainSpec;
  readonly health: HealthTracker;
  /** Counters that change with the head and the status of the chain. */
  readonly revision: Int32Array;
  readonly budgetStore: BudgetStore;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly observer?: GatewayObserver | undefined;
  /** Time limit of a call. */
  readonly callTimeoutMillis: number;
  /** Called after several consecutive requests to an upstream failed. */
  onRepeatedFailure(upstream: string, reason: string): void;
  /** Sticky routes that are shared with other processes. */
  readonly stickyRoutes?: StickyRoutes | undefined;
}

type Send = (call: UpstreamCall) => Promise<UpstreamResponse>;

/** Default time limit of a read. */
const UPSTREAM_TIMEOUT_MILLIS = 10_000;
/** Share of the call's time limit after which a read or a submission fails, so that the error can name the upstream. */
const TIMEOUT_SHARE = 0.9;

/** Interval at which a retired pipeline checks for running requests. */
const RETIRE_CHECK_MILLIS = 1000;

/** Path of a call to the upstreams: method policy, cache, quorum, upstream pool. Replaced as a whole on a reload. */
export class RequestPipeline implements UpstreamAccess {
  readonly reader = { read: (call: UpstreamCall) => this.#read(call) };
  readonly upstreams = { submit: (call: UpstreamCall) => this.#submit(call) };
  readonly #policies: MethodPolicies;
  readonly #timers: Timers;
  /** Default time limit of a read, if upstreams would otherwise be given more time than the call has. */
  readonly #timeoutMillis: number | undefined;
  readonly #pool: UpstreamPool;
  readonly #quorum: QuorumReader;
  readonly #fetch: Send;
  readonly #reader: CachingReader;
  readonly #closing = new AbortController();
  /** Reads without a response, including those that wait for an upstream or for a retry. */
  #pendingReads = 0;
  #closed: Promise<void> | undefined;

  constructor(settings: GatewaySettings, policies: MethodPolicies, deps: PipelineDeps) {
    const { timers, observer } = deps;
    this.#policies = policies;
    this.#timers = timers;
    const { callTimeoutMillis } = deps;
    if (callTimeoutMillis <= UPSTREAM_TIMEOUT_MILLIS) this.#timeoutMillis = callTimeoutMillis * TIMEOUT_SHARE;
    this.#pool = new UpstreamPool({ ...deps, settings, submissionMillis: callTimeoutMillis * TIMEOUT_SHARE });
    this.#quorum = new QuorumReader({ upstreams: this.#pool, settings, timers, observer });
    this.#fetch = (call) => this.#traced(call, (traced) => this.#readInTime(traced, (read) => this.#readCounted(read)));
    this.#reader = new CachingReader({ ...deps, settings, fetch: this.#fetch });
  }

  /**
   * Closes the pipeline once its running requests have ended. It must not get new requests. A read that has not reached
   * the upstreams by then is rejected.
   */
  async retire(): Promise<void> {
    const { signal } = this.#closing;
    const isIdle = () => this.#pendingReads === 0 && this.#pool.isIdle;
    while (!isIdle() && !signal.aborted) await this.#timers.sleep(RETIRE_CHECK_MILLIS, signal).catch(() => {});
    await this.close();
  }

  /** Fails all running requests. */
  close(): Promise<void> {
    this.#closing.abort();
    this.#closed ??= this.#reader.close().then(() => this.#pool.close());
    return this.#closed;
  }

  #read(incoming: UpstreamCall): Promise<UpstreamResponse> {
    const call = this.#withPolicy(incoming);
    const { trace } = call.cancellation;
    return trace === undefined ? this.#readByPolicy(call) : this.#readTraced(call, trace);
  }

  /** Adds the time outside of upstreams to the trace. */
  async #readTraced(call: UpstreamCall, trace: RequestTrace): Promise<UpstreamResponse> {
    const { cancellation } = call;
    // Its own trace, because calls of a batch overlap.
    const own: RequestTrace = { traceparent: trace.traceparent, tracestate: trace.tracestate };
    const traced: Cancellation = {
      get signal() {
        return cancellation.signal;
      },
      onAbort: cancellation.onAbort && ((listener) => cancellation.onAbort!(listener)),
      trace: own,
    };
    const startedAt = this.#timers.now();
    try {
      return await this.#readByPolicy({ ...call, cancellation: traced });
    } finally {
      const { upstreamMillis } = own;
      const cacheMillis = this.#timers.now() - startedAt - (upstreamMillis ?? 0);
      trace.cacheMillis = (trace.cacheMillis ?? 0) + cacheMillis;
      if (upstreamMillis !== undefined) trace.upstreamMillis = (trace.upstreamMillis ?? 0) + upstreamMillis;
    }
  }

  async #readCounted(call: UpstreamCall): Promise<UpstreamResponse> {
    // A lookup in the shared cache may outlast the pipeline. After a reload, the read is retried with the new one.
    if (this.#closing.signal.aborted) throw unavailable("The gateway is shutting down.");
    this.#pendingReads++;
    try {
      return await this.#quorum.read(call);
    } finally {
      this.#pendingReads--;
    }
  }

  // Not an async function, because most calls are not traced.
  #traced(call: UpstreamCall, send: Send): Promise<UpstreamResponse> {
    const { trace } = call.cancellation;
    return trace === undefined ? send(call) : this.#sendTraced(call, trace, send);
  }

  /** Forwards the trace context to the upstream and adds the time until its response to the trace. */
  async #sendTraced(call: UpstreamCall, trace: RequestTrace, send: Send): Promise<UpstreamResponse> {
    const { request } = call;
    const context = traceHeaders(trace);
    const startedAt = this.#timers.now();
    try {
      return await send(
        context ? { ...call, request: { ...request, headers: { ...request.headers, ...context } } } : call,
      );
    } finally {
      trace.upstreamMillis = (trace.upstreamMillis ?? 0) + this.#timers.now() - startedAt;
    }
  }

  #readByPolicy(call: UpstreamCall): Promise<UpstreamResponse> {
    const { policy } = call;
    return policy?.cacheSeconds === 0 ? this.#fetch(call) : this.#reader.read(call);
  }

  #submit(incoming: UpstreamCall): Promise<UpstreamResponse> {
    return this.#traced(this.#withPolicy(incoming), (call) => this.#pool.submit(call));
  }

  #withPolicy(call: UpstreamCall): UpstreamCall {
    const policy = this.#policies.of(call.method.name);
    return policy === undefined ? call : { ...call, policy };
  }

  /** Rejects if a read exceeds the time limit of its method policy, or comes close to the time limit of the call. */
  #readInTime(call: UpstreamCall, read: Send): Promise<UpstreamResponse> {
    const millis = call.policy?.timeoutMillis ?? this.#timeoutMillis;
    return millis === undefined ? read(call) : this.#readWithin(millis, call, read);
  }

  async #readWithin(millis: number, call: UpstreamCall, read: Send): Promise<UpstreamResponse> {
    const timeout = new AbortController();
    const stop = this.#timers.every(millis, () => {
      stop();
      const message = `No upstream answered ${call.method.name} within ${millis / 1000} s.`;
      timeout.abort(new TimeLimitFailure("unavailable", message));
    });
    const signal = AbortSignal.any([call.cancellation.signal, timeout.signal]);
    try {
      return await read({ ...call, cancellation: { signal, trace: call.cancellation.trace } });
    } finally {
      stop();
    }
  }
}

function traceHeaders({ traceparent, tracestate }: RequestTrace): Record<string, string> | undefined {
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
