import { hash } from "node:crypto";
import { SingleFlight } from "../../async/single-flight.ts";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { ByteBudget } from "../../server/http/request/byte-budget.ts";
import type { GatewayObserver } from "../metrics/gateway-observer.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { GatewaySettings } from "../settings.ts";
import { reportedHeadSlot } from "../upstream/selection/head-bound.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream/upstream-call.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import { findViolation, isCheckedWhole, validationKind } from "../validation/response-validator.ts";
import { bufferBody } from "./buffer-body.ts";
import {
  type BufferedResponse,
  type FinalityView,
  finalityFrom,
  lifetimeOf,
  mayBeFinal,
  nonFinalLifetime,
} from "./cache-lifetime.ts";
import { MemoryCache } from "./memory-cache.ts";
import { type FetchLock, RedisCache, withQuorumPrefix } from "./redis-cache.ts";

export interface CachingReaderOptions {
  /** Reads from the upstreams. */
  fetch(call: UpstreamCall): Promise<UpstreamResponse>;
  revision: Int32Array;
  chainSpec: ChainSpec;
  settings: Pick<GatewaySettings, "memoryBytes" | "cache" | "quorum" | "validation">;
  health: Pick<HealthTracker, "all" | "headFloor" | "finalityReverts">;
  timers: Timers;
  logger: Logger;
  observer?: Pick<GatewayObserver, "onCacheLookup" | "onCacheState">;
}

/** Limit for bodies without Content-Length, such as a list of a million validators. */
const MAX_UNSIZED_BYTES = 4 * 1024 * 1024;

/** Longer bodies are checked up to this offset and at their end before they are cached. This takes milliseconds. */
const MAX_CHECKED_BYTES = 1024 * 1024;

/** Response of a shared fetch. A streamed body can be handed to only one caller. */
interface SharedResponse {
  response: UpstreamResponse;
  isTaken: boolean;
}

/** Share of the cache size that bodies in flight may use in addition. */
const BUFFER_SHARE = 4;

/** Reads through the memory cache and the shared cache. Concurrent identical reads share one fetch (single flight). */
export class CachingReader {
  readonly #fetch: CachingReaderOptions["fetch"];
  readonly #observer: CachingReaderOptions["observer"];
  readonly #health: CachingReaderOptions["health"];
  readonly #chainSpec: ChainSpec;
  readonly #finality: FinalityView;
  readonly #memory: MemoryCache;
  readonly #cache: RedisCache | undefined;
  readonly #maxBodyBytes: number;
  readonly #bufferBudget: ByteBudget;
  readonly #validates: boolean;
  readonly #inFlight = new SingleFlight<string, SharedResponse>();

  constructor({
    fetch,
    revision,
    chainSpec,
    settings: { memoryBytes, cache, quorum, validation },
    health,
    timers,
    logger,
    observer,
  }: CachingReaderOptions) {
    this.#fetch = fetch;
    this.#validates = validation;
    this.#observer = observer;
    this.#health = health;
    this.#chainSpec = chainSpec;
    this.#finality = finalityFrom(health, chainSpec);
    this.#memory = new MemoryCache({ bytes: memoryBytes, revision, health, chainSpec, timers });
    this.#cache =
      cache && new RedisCache({ cache: withQuorumPrefix(cache, quorum), chainSpec, health, timers, logger, observer });
    this.#maxBodyBytes = Math.max(this.#memory.maxBodyBytes, this.#cache?.maxBodyBytes ?? 0);
    this.#bufferBudget = new ByteBudget(Math.max(this.#maxBodyBytes, memoryBytes / BUFFER_SHARE));
  }

  /** Returns the same object for every hit in memory. */
  read(call: UpstreamCall): Promise<UpstreamResponse> {
    if (!this.#isCacheable(call)) return this.#fetch(call);
    const key = cacheKey(call);
    const cached = this.#memory.get(key, this.#validationKind(call));
    this.#observer?.onCacheLookup("memory", cached !== undefined);
    return cached ?? this.#readSingleFlight(key, call);
  }

  async close(): Promise<void> {
    await this.#cache?.close();
  }

  #isCacheable(call: UpstreamCall): boolean {
    return nonFinalLifetime(call) !== undefined || mayBeFinal(call, this.#finality);
  }

  async #readSingleFlight(key: string, call: UpstreamCall): Promise<UpstreamResponse> {
    const { head, status, headFloor } = this.#memory.snapshot();
    // A caller that has seen newer events does not join an older fetch.
    const flightKey = `${head} ${status} ${headFloor} ${key}`;
    const shared = await this.#inFlight.run(flightKey, call.cancellation.signal, async (_, abortSignal) => ({
      response: await this.#lookUp(key, {
        ...call,
        cancellation: { signal: abortSignal(), trace: call.cancellation.trace },
      }),
      isTaken: false,
    }));
    if (Buffer.isBuffer(shared.response.body)) return shared.response;
    if (shared.isTaken) return this.#fetch(call);
    shared.isTaken = true;
    return shared.response;
  }

  async #lookUp(key: string, call: UpstreamCall): Promise<UpstreamResponse> {
    const isShared = this.#cache !== undefined && call.policy?.cacheSeconds === undefined;
    if (!isShared || !mayBeFinal(call, this.#finality)) return this.#fetchAndCache(key, call);
    const isValid = (answer: BufferedResponse) => this.#isValid(call, answer);
    const lookup = await this.#cache!.find(key, isValid, call.cancellation.signal);
    if (lookup === undefined || "lock" in lookup) return this.#fetchAndCache(key, call, lookup?.lock);
    this.#memory.put(key, lookup.answer, "final", this.#memory.snapshot());
    return lookup.answer;
  }

  #validationKind(call: UpstreamCall): string | undefined {
    return this.#validates ? validationKind(call) : undefined;
  }

  /** An entry of the shared cache may be from a gateway without validation, or with other definitions. */
  #isValid(call: UpstreamCall, answer: BufferedResponse): boolean {
    if (!this.#validates) return true;
    return answer.validatedAs === validationKind(call) && this.#findViolation(call, answer) === undefined;
  }

  #findViolation(call: UpstreamCall, answer: BufferedResponse): string | undefined {
    return findViolation(call, answer, { chainSpec: this.#chainSpec, maxBytes: MAX_CHECKED_BYTES });
  }

  async #fetchAndCache(key: string, call: UpstreamCall, lock?: FetchLock): Promise<UpstreamResponse> {
    let final: BufferedResponse | undefined;
    try {
      const snapshot = this.#memory.snapshot();
      const fetched = await this.#fetchBuffered(call);
      if (!isBuffered(fetched)) return fetched;
      const response = { ...fetched, validatedAs: this.#validationKind(call) };
      const lifetime = lifetimeOf(call, response, this.#finality);
      const headSlot = reportedHeadSlot(call, response);
      const isForNewHead = headSlot !== undefined && headSlot >= this.#knownHeadSlot(response);
      // An upstream may announce a head before its answers reflect it.
      if (lifetime !== undefined && (headSlot === undefined || isForNewHead)) {
        const maxMillis = call.policy?.cacheSeconds === undefined ? undefined : call.policy.cacheSeconds * 1000;
        this.#memory.put(key, response, lifetime, snapshot, isForNewHead, maxMillis);
      }
      if (lifetime === "final" && snapshot.finalityReverts === this.#memory.snapshot().finalityReverts)
        final = response;
      return response;
    } finally {
      lock?.end(final);
    }
  }

  /** Returns the head slot of the upstream, or the head floor if that is higher. */
  #knownHeadSlot({ upstream }: UpstreamResponse): number {
    const { all, headFloor } = this.#health;
    return Math.max(headFloor, all.find((upstreamHealth) => upstreamHealth.upstream === upstream)?.head?.slot ?? 0);
  }

  /** Retries once on another upstream if a body is truncated or invalid and none of it was forwarded. */
  async #fetchBuffered(call: UpstreamCall): Promise<UpstreamResponse> {
    const response = await this.#fetch(call);
    try {
      return await this.#bufferBody(response, call);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const deprioritized = new Set([...(call.deprioritized ?? []), response.upstream]);
      return this.#bufferBody(await this.#fetch({ ...call, deprioritized }), call);
    }
  }

  /** Buffers a body that fits into the cache and the buffer budget. */
  async #bufferBody(response: UpstreamResponse, call: UpstreamCall): Promise<UpstreamResponse> {
    const { status, headers, body } = response;
    if (status !== 200 || isCheckedWhole(call, response)) return response;
    if (Buffer.isBuffer(body)) return this.#requireValid(call, { ...response, body });
    const length = headers["content-length"];
    const maxBytes = length === undefined ? Math.min(this.#maxBodyBytes, MAX_UNSIZED_BYTES) : this.#maxBodyBytes;
    if (Number(length ?? 0) > maxBytes) return response;
    const limits = { maxBytes, budget: this.#bufferBudget };
    const buffered = { ...response, start: undefined, body: await bufferBody(body, limits, call.cancellation.signal) };
    return isBuffered(buffered) ? this.#requireValid(call, buffered) : buffered;
  }

  /** Checks a complete body before it is cached. So far, only the start and the end of a large body were checked. */
  #requireValid(call: UpstreamCall, response: BufferedResponse): BufferedResponse {
    if (!this.#validates) return response;
    const violation = this.#findViolation(call, response);
    if (violation === undefined) return response;
    const message = `${response.upstream} answered ${call.method.name} with an invalid result: ${violation}.`;
    throw new UpstreamError(response.upstream, message, { mayHaveArrived: true, isInvalidResponse: true });
  }
}

function isBuffered(response: UpstreamResponse): response is BufferedResponse {
  return Buffer.isBuffer(response.body);
}

/** Everything the answer depends on except the chain. `format` stands for the Accept header. */
function cacheKey({ request: { verb, url, headers, body }, format }: UpstreamCall): string {
  let key = `${verb} ${format} ${url}`;
  for (const name in headers) if (name !== "accept") key += ` ${name}=${headers[name]}`;
  return body === undefined ? key : `${key} ${hash("sha256", body, "base64url")}`;
}
