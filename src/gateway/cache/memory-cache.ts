import type { Timers } from "../../async/timers.ts";
import { ByteLru } from "../../collections/byte-lru.ts";
import { REVISION_INDEXES } from "../../server/thread/messages/protocol.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { UpstreamResponse } from "../upstream/upstream-call.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import type { BufferedResponse, CacheLifetime } from "./cache-lifetime.ts";
import { cacheableHeaders } from "./response-codec.ts";

interface MemoryCacheOptions {
  bytes: number;
  /** Counters that change when answers about the head or the status may change. */
  revision: Int32Array;
  health: Pick<HealthTracker, "headFloor" | "finalityReverts">;
  chainSpec: Pick<ChainSpec, "secondsPerSlot">;
  timers: Pick<Timers, "now">;
}

/** Revision of the chain when a request was sent. A cached answer is valid only while it is unchanged. */
export interface RevisionSnapshot {
  readonly head: number;
  readonly status: number;
  readonly headFloor: number;
  readonly finalityReverts: number;
  readonly at: number;
  /** Time by which upstreams have processed the head that they announced. */
  readonly settledAt: number;
}

interface CacheEntry {
  validatedAs: string | undefined;
  /** Resolved. Shared, so that a hit creates no promise. */
  response: Promise<UpstreamResponse>;
  lifetime: CacheLifetime;
  snapshot: RevisionSnapshot;
  expiresAt: number;
}

/** A single response may use at most 1/16 of the cache, so that it evicts few others. */
const MAX_ENTRY_SHARE = 16;
/** Approximate overhead of an entry. */
const ENTRY_BYTES = 512;
/** A restarted upstream may have another version or configuration. */
const FIXED_TTL_MILLIS = 180_000;
/** A hung upstream must not appear healthy. */
const STATUS_TTL_MILLIS = 12_000;
/** How long answers may still reflect the previous head after a new one was announced. */
const HEAD_SETTLE_MILLIS = 500;

/** In-memory LRU cache of responses, bounded by bytes. */
export class MemoryCache {
  /** Larger bodies are not cached. */
  readonly maxBodyBytes: number;
  readonly #options: MemoryCacheOptions;
  readonly #entries: ByteLru<CacheEntry>;
  readonly #ttlMillis: Readonly<Record<CacheLifetime, number>>;
  #head: number;
  #settledAt = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryCacheOptions) {
    this.#options = options;
    this.maxBodyBytes = Math.floor(options.bytes / MAX_ENTRY_SHARE);
    this.#entries = new ByteLru({ bytes: options.bytes });
    this.#head = Atomics.load(options.revision, REVISION_INDEXES.head);
    const slotMillis = options.chainSpec.secondsPerSlot * 1000;
    this.#ttlMillis = {
      final: Number.POSITIVE_INFINITY,
      fixed: FIXED_TTL_MILLIS,
      head: slotMillis,
      status: Math.min(slotMillis, STATUS_TTL_MILLIS),
    };
  }

  /** Deletes an entry that has expired or was validated as something else. */
  get(key: string, validatedAs: string | undefined): Promise<UpstreamResponse> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.validatedAs === validatedAs && this.#isValid(entry)) return entry.response;
    this.#entries.delete(key);
    return undefined;
  }

  /**
   * Stores a response. `snapshot` was taken before the request was sent. `isForNewHead` is true if the response itself
   * names the new head. `maxMillis` limits the lifetime.
   */
  put(
    key: string,
    response: BufferedResponse,
    lifetime: CacheLifetime,
    snapshot: RevisionSnapshot,
    isForNewHead = false,
    maxMillis = Number.POSITIVE_INFINITY,
  ): void {
    const { length } = response.body;
    if (length > this.maxBodyBytes) return;
    const headers = cacheableHeaders(response.headers);
    const { upstream, status, validatedAs } = response;
    const entry = { upstream, status, headers, body: copyToOwnMemory(response.body), cachedIn: "memory" as const };
    const bytes = length + JSON.stringify(headers).length + ENTRY_BYTES;
    const mayBeEarly = lifetime === "head" && !isForNewHead && snapshot.at < snapshot.settledAt;
    const ttlMillis = Math.min(maxMillis, this.#ttlMillis[lifetime]);
    const expiresAt = Math.min(mayBeEarly ? snapshot.settledAt : Number.POSITIVE_INFINITY, snapshot.at + ttlMillis);
    this.#entries.set(key, { response: Promise.resolve(entry), validatedAs, lifetime, snapshot, expiresAt }, bytes);
  }

  snapshot(): RevisionSnapshot {
    const { revision, health, timers } = this.#options;
    const head = Atomics.load(revision, REVISION_INDEXES.head);
    const at = timers.now();
    if (head !== this.#head) {
      this.#head = head;
      this.#settledAt = at + HEAD_SETTLE_MILLIS;
    }
    return {
      head,
      status: Atomics.load(revision, REVISION_INDEXES.status),
      headFloor: health.headFloor,
      finalityReverts: health.finalityReverts,
      at,
      settledAt: this.#settledAt,
    };
  }

  #isValid({ lifetime, snapshot, expiresAt }: CacheEntry): boolean {
    const { revision, health, timers } = this.#options;
    if (timers.now() >= expiresAt) return false;
    if (lifetime === "final") return health.finalityReverts === snapshot.finalityReverts;
    if (lifetime === "fixed") return true;
    // A client that has seen a later head must not get an answer about an earlier one.
    return (
      Atomics.load(revision, REVISION_INDEXES[lifetime]) === snapshot[lifetime] &&
      health.headFloor <= snapshot.headFloor
    );
  }
}

/** A small body is often a slice of a large socket buffer, which it would retain. */
function copyToOwnMemory(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
