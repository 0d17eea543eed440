const MAX_ENTRIES = 2_000;

interface Entry {
  failures: number;
  failedAt: number;
  /** Earliest time of the next retry after failures. */
  dueAt: number;
  /** Set by `postpone`. */
  postponedAt: number;
  postponedUntil: number;
  barredUntil: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
const INITIAL: Entry = {
  failures: 0,
  failedAt: NEVER,
  dueAt: NEVER,
  postponedAt: NEVER,
  postponedUntil: NEVER,
  barredUntil: NEVER,
};

interface DialBackoffOptions {
  firstMs: number;
  /** Upper bound of the delay, which doubles with each failure. */
  maxMs: number;
  maxEntries?: number;
}

/**
 * Exponential backoff per key, with explicit postponements and blocks. Bounded by evicting the least recently changed
 * key.
 */
export class DialBackoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #maxEntries: number;
  /** In the order in which the entries were last changed. */
  readonly #entries = new Map<string, Entry>();

  constructor({ firstMs, maxMs, maxEntries = MAX_ENTRIES }: DialBackoffOptions) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#maxEntries = maxEntries;
  }

  /**
   * Returns true if the key may be retried. `maxWaitMs` shortens the wait after a failure or postponement, but not that
   * of a block.
   */
  isDue(key: string, now: number, maxWaitMs = Number.POSITIVE_INFINITY): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return true;
    const { failedAt, dueAt, postponedAt, postponedUntil, barredUntil } = entry;
    if (now < barredUntil) return false;
    return now >= Math.max(dueAt, postponedUntil) || now - Math.max(failedAt, postponedAt) >= maxWaitMs;
  }

  /** Returns the number of consecutive failures. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  fail(key: string, now: number): void {
    const failures = this.failures(key) + 1;
    const wait = Math.min(this.#maxMs, this.#firstMs * 2 ** (failures - 1));
    this.#change(key, { failures, failedAt: now, dueAt: now + wait });
  }

  /** Resets the number of failures. Postponements and blocks remain. */
  succeed(key: string): void {
    if (this.#entries.has(key)) this.#change(key, { failures: 0, failedAt: NEVER, dueAt: NEVER });
  }

  /** Postpones the next retry, even after a success. */
  postpone(key: string, now: number, ms: number): void {
    const until = Math.max(now + ms, this.#entries.get(key)?.postponedUntil ?? NEVER);
    this.#change(key, { postponedAt: now, postponedUntil: until });
  }

  /** Makes all keys due, except blocked ones. */
  expire(): void {
    for (const [key, { barredUntil }] of this.#entries) this.#entries.set(key, { ...INITIAL, barredUntil });
  }

  /** Blocks the key until the given time, even for urgent retries. */
  block(key: string, until: number): void {
    this.#change(key, { barredUntil: Math.max(until, this.#entries.get(key)?.barredUntil ?? NEVER) });
  }

  #change(key: string, changes: Partial<Entry>): void {
    const before = this.#entries.get(key) ?? INITIAL;
    this.#entries.delete(key);
    this.#entries.set(key, { ...before, ...changes });
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
