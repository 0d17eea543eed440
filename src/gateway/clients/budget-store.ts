import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { RedisConnection } from "../cache/redis-connection.ts";
import type { CacheSettings } from "../settings.ts";

/** Counters that several processes share. */
export interface BudgetStore {
  /** Adds to a counter that expires after its first use. Resolves to the new total. Never rejects. */
  add(counter: string, amount: number, ttlSeconds: number): Promise<number>;
  close(): Promise<void>;
}

/** Counters in the memory of this process. */
export class LocalBudgetStore implements BudgetStore {
  readonly #timers: Pick<Timers, "now">;
  readonly #counters = new Map<string, { total: number; expiresAt: number }>();

  constructor(timers: Pick<Timers, "now">) {
    this.#timers = timers;
  }

  async add(name: string, amount: number, ttlSeconds: number): Promise<number> {
    const counter = this.#counterOf(name, ttlSeconds);
    counter.total += amount;
    return counter.total;
  }

  /** Sets a counter to a total that is known from elsewhere. */
  set(name: string, total: number, ttlSeconds: number): void {
    this.#counterOf(name, ttlSeconds).total = total;
  }

  #counterOf(name: string, ttlSeconds: number): { total: number } {
    const now = this.#timers.now();
    let counter = this.#counters.get(name);
    if (counter === undefined) {
      for (const [other, { expiresAt }] of this.#counters) if (expiresAt <= now) this.#counters.delete(other);
      counter = { total: 0, expiresAt: now + ttlSeconds * 1000 };
      this.#counters.set(name, counter);
    }
    return counter;
  }

  async close(): Promise<void> {}
}

interface RedisBudgetStoreOptions {
  cache: CacheSettings;
  timers: Timers;
  logger: Logger;
}

const ADD_SCRIPT =
  "local total = redis.call('INCRBY', KEYS[1], ARGV[1]) " +
  "if total == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end return total";

/**
 * Counters in Redis, shared by all gateways with the same prefix. While Redis is unavailable, each gateway continues
 * from the last shared totals.
 */
export class RedisBudgetStore implements BudgetStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #fallback: LocalBudgetStore;

  constructor({ cache, timers, logger }: RedisBudgetStoreOptions) {
    this.#prefix = `${cache.prefix}budget:`;
    this.#fallback = new LocalBudgetStore(timers);
    this.#connection = new RedisConnection({ url: cache.url, probes: [this.#prefix], timers, logger });
  }

  /** True while Redis is available. */
  get isShared(): boolean {
    return this.#connection.isUp;
  }

  async add(counter: string, amount: number, ttlSeconds: number): Promise<number> {
    const key = this.#prefix + counter;
    const command = ["EVAL", ADD_SCRIPT, "1", key, String(amount), String(ttlSeconds)];
    // Few calls wait for it, and an outage costs accuracy. It therefore gets more time than reads of the cache.
    const reply = await this.#connection.write(command, { isOnRequestPath: false });
    if (typeof reply !== "number") return this.#fallback.add(counter, amount, ttlSeconds);
    this.#fallback.set(counter, reply, ttlSeconds);
    return reply;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
