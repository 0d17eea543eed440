/** Maximum number of calls tracked as repeated. */
const MAX_REPEATED = 64;
/** Calls expire if they are not used for this long. */
const EXPIRY_MS = 30_000;

interface RepeatedCall {
  id: number;
  key: string;
  usedAt: number;
}

/** Tracks frequent calls, so that the main thread can prewarm their responses. */
export class RepeatedCalls {
  readonly #onExpired: (id: number, key: string) => void;
  readonly #now: () => number;
  readonly #byKey = new Map<string, RepeatedCall>();
  readonly #byId = new Map<number, RepeatedCall>();
  #last = 0;

  /** `onExpired` is called when a call expires. */
  constructor(onExpired: (id: number, key: string) => void, now: () => number = () => performance.now()) {
    this.#onExpired = onExpired;
    this.#now = now;
  }

  /** Updates the time at which a call was last used. Returns true if the call is tracked. */
  touch(key: string): boolean {
    const call = this.#byKey.get(key);
    if (call) call.usedAt = this.#now();
    return call !== undefined;
  }

  /**
   * Tracks a call and returns its id, which is negative. Returns undefined if the call is already tracked or there are
   * too many.
   */
  add(key: string): number | undefined {
    if (this.#byKey.has(key)) return undefined;
    // Calls that always fail are never looked up in the cache, so this is where they expire.
    if (this.#byKey.size >= MAX_REPEATED) for (const call of this.#byKey.values()) this.#expire(call);
    if (this.#byKey.size >= MAX_REPEATED) return undefined;
    const call = { id: --this.#last, key, usedAt: this.#now() };
    this.#byKey.set(key, call);
    this.#byId.set(call.id, call);
    return call.id;
  }

  /** Returns a call's cache key, or undefined if the call has expired. */
  keyOf(id: number): string | undefined {
    const call = this.#byId.get(id);
    return call === undefined || this.#expire(call) ? undefined : call.key;
  }

  #expire({ id, key, usedAt }: RepeatedCall): boolean {
    if (this.#now() - usedAt < EXPIRY_MS) return false;
    this.#byId.delete(id);
    this.#byKey.delete(key);
    this.#onExpired(id, key);
    return true;
  }
}
