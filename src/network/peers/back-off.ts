const MAX_ENTRIES = 2_000;

interface Entry {
  failures: number;
  failedAt: number;
  /** By the failures. */
  dueAt: number;
  /** By whoever knows better. */
  postponedUntil: number;
}

interface BackOffOptions {
  firstMs: number;
  /** Each failure doubles the wait, up to this. */
  maxMs: number;
  maxEntries?: number;
}

/** When something that failed may be tried again. */
export class BackOff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #maxEntries: number;
  /** The entry that changed last stands last. */
  readonly #entries = new Map<string, Entry>();

  constructor({ firstMs, maxMs, maxEntries = MAX_ENTRIES }: BackOffOptions) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#maxEntries = maxEntries;
  }

  /** In a hurry, one waits no longer than `patienceMs` after a failure, however many there were. */
  isDue(key: string, now: number, patienceMs = Number.POSITIVE_INFINITY): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return true;
    return now >= entry.postponedUntil && (now >= entry.dueAt || now - entry.failedAt >= patienceMs);
  }

  /** Since the last success. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  fail(key: string, now: number): void {
    const failures = this.failures(key) + 1;
    const wait = Math.min(this.#maxMs, this.#firstMs * 2 ** (failures - 1));
    this.#change(key, { failures, failedAt: now, dueAt: now + wait });
  }

  /** What was postponed stays so. */
  succeed(key: string): void {
    const { postponedUntil } = this.#entries.get(key) ?? {};
    this.#entries.delete(key);
    if (postponedUntil !== undefined) this.#change(key, { postponedUntil });
  }

  /** Not before that time, whatever happens until then. */
  postpone(key: string, until: number): void {
    this.#change(key, { postponedUntil: Math.max(until, this.#entries.get(key)?.postponedUntil ?? until) });
  }

  #change(key: string, changes: Partial<Entry>): void {
    const never = Number.NEGATIVE_INFINITY;
    const before = this.#entries.get(key) ?? { failures: 0, failedAt: never, dueAt: never, postponedUntil: never };
    this.#entries.delete(key);
    this.#entries.set(key, { ...before, ...changes });
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
