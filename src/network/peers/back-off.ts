const MAX_ENTRIES = 2_000;

interface Entry {
  failures: number;
  failedAt: number;
  /** By the failures. */
  dueAt: number;
  /** By whoever knows better. */
  postponedAt: number;
  postponedUntil: number;
  barredUntil: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
const FRESH: Entry = {
  failures: 0,
  failedAt: NEVER,
  dueAt: NEVER,
  postponedAt: NEVER,
  postponedUntil: NEVER,
  barredUntil: NEVER,
};

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

  /** In a hurry, one waits no longer than `patienceMs` after what happened last, unless it is barred. */
  isDue(key: string, now: number, patienceMs = Number.POSITIVE_INFINITY): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return true;
    const { failedAt, dueAt, postponedAt, postponedUntil, barredUntil } = entry;
    if (now < barredUntil) return false;
    return now >= Math.max(dueAt, postponedUntil) || now - Math.max(failedAt, postponedAt) >= patienceMs;
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

  /** What was postponed or barred stays so. */
  succeed(key: string): void {
    if (this.#entries.has(key)) this.#change(key, { failures: 0, failedAt: NEVER, dueAt: NEVER });
  }

  /** Later, whatever happens until then, unless one is in a hurry. */
  postpone(key: string, now: number, ms: number): void {
    const until = Math.max(now + ms, this.#entries.get(key)?.postponedUntil ?? NEVER);
    this.#change(key, { postponedAt: now, postponedUntil: until });
  }

  /** Everything that is not barred is due now. */
  expire(): void {
    for (const [key, { barredUntil }] of this.#entries) this.#entries.set(key, { ...FRESH, barredUntil });
  }

  /** Not before that time, whatever happens until then. */
  bar(key: string, until: number): void {
    this.#change(key, { barredUntil: Math.max(until, this.#entries.get(key)?.barredUntil ?? NEVER) });
  }

  #change(key: string, changes: Partial<Entry>): void {
    const before = this.#entries.get(key) ?? FRESH;
    this.#entries.delete(key);
    this.#entries.set(key, { ...before, ...changes });
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
