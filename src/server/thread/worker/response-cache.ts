import { ByteLru } from "../../../collections/byte-lru.ts";
import type { MethodResponse } from "../../method-table.ts";
import type { RestResponse } from "../../rest/route-table.ts";
import { REVISION_INDEXES, type Validity } from "../messages/protocol.ts";

/** The result of a method or the response of a REST route. */
export type Response = MethodResponse | RestResponse;

interface CachedResponse {
  response: Response;
  validity: Validity;
  cachedAt: number;
}

interface CacheLimits {
  entries: number;
  bytes: number;
  /** Larger responses are not cached. */
  responseBytes: number;
  /** Maximum age of status responses, which prevents a stuck node from reporting itself as healthy. */
  statusMillis: number;
}

const DEFAULT_LIMITS: CacheLimits = {
  entries: 2048,
  bytes: 32 * 1024 * 1024,
  responseBytes: 2 * 1024 * 1024,
  statusMillis: 15_000,
};

/**
 * Byte-bounded LRU cache of encoded responses. An entry is valid as long as its revision in shared memory is unchanged.
 */
export class ResponseCache {
  readonly #revision: Int32Array;
  readonly #limits: CacheLimits;
  readonly #now: () => number;
  readonly #entries: ByteLru<CachedResponse>;

  constructor(revision: Int32Array, limits: Partial<CacheLimits> = {}, now: () => number = () => performance.now()) {
    this.#revision = revision;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#entries = new ByteLru(this.#limits);
    this.#now = now;
  }

  get(key: string): Pick<CachedResponse, "response" | "validity"> | undefined {
    const cached = this.#entries.get(key);
    if (cached === undefined || this.#isValid(cached)) return cached;
    this.#entries.delete(key);
    return undefined;
  }

  /** Caches a response whose body has `size` bytes, unless a response with a later revision is already cached. */
  put(key: string, response: Response, size: number, validity: Validity): void {
    if (key.length + size > this.#limits.responseBytes) return;
    const previous = this.#entries.get(key)?.validity;
    if (previous !== undefined && isOlder(validity, previous)) return;
    this.#entries.set(key, { response, validity, cachedAt: this.#now() }, size);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #isValid({ validity, cachedAt }: CachedResponse): boolean {
    if (validity === "always") return true;
    const { on, revision } = validity;
    if (Atomics.load(this.#revision, REVISION_INDEXES[on]) !== revision) return false;
    return on !== "status" || this.#now() - cachedAt < this.#limits.statusMillis;
  }
}

/** Returns true if one revision is earlier than another. Revisions wrap around at the largest 32-bit integer. */
function isOlder(one: Validity, other: Validity): boolean {
  return one !== "always" && other !== "always" && ((one.revision - other.revision) | 0) < 0;
}
