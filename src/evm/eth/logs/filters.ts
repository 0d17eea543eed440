import { EthError } from "../eth-error.ts";
import type { EthService } from "../eth-service.ts";
import { checkRange, type LogQuery } from "./log-query.ts";
import type { EthSubscription } from "./subscription.ts";

interface Filter {
  /** Undefined except for log filters. */
  query: LogQuery | undefined;
  /** Events delivered since the last poll. Filters may share an array. */
  changes: (readonly unknown[])[];
  count: number;
  /** Approximate size of the changes. */
  bytes: number;
  polledAt: number;
  end(): void;
}

const EXPIRY_MS = 5 * 60 * 1000;
const MAX_FILTERS = 1000;
/** Filters with more unfetched changes are dropped. */
const MAX_CHANGES = 20_000;
/**
 * Approximate size limit for the unfetched changes of all filters. If it is exceeded, the largest filter is dropped.
 */
const MAX_BYTES = 64 * 2 ** 20;
/** Estimated overhead per log. */
const LOG_BYTES = 1000;
const OVERLOADED = "its chain has more filters and subscriptions than it can deliver the logs of a block to";
const EXPIRED = `it was not polled for ${EXPIRY_MS / 60_000} minutes`;
/** Maximum number of recorded drop reasons, for clients that are still polling. */
const MAX_REASONS = 1000;

/**
 * Filters polled by clients. They collect events delivered by the service, so they survive a restart of the service's
 * thread.
 */
export class Filters {
  readonly #service: Pick<EthService, "call" | "subscribe" | "delivered">;
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #filters = new Map<string, Filter>();
  /** Approximate sizes of results, which filters may share. */
  readonly #sizes = new WeakMap<readonly unknown[], number>();
  /** Reasons why filters were dropped, by id. */
  readonly #reasons = new Map<string, string>();
  #bytes = 0;
  #lastId = 0;

  constructor(
    service: Pick<EthService, "call" | "subscribe" | "delivered">,
    { now = Date.now, maxBytes = MAX_BYTES }: { now?: () => number; maxBytes?: number } = {},
  ) {
    this.#service = service;
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#filters.size;
  }

  addLogs(query: LogQuery): string {
    checkRange(query);
    return this.#add({ kind: "logs", addresses: query.addresses, topics: query.topics }, query);
  }

  addBlocks(): string {
    return this.#add({ kind: "newHeads" });
  }

  addPendingTransactions(): string {
    return this.#add({ kind: "newPendingTransactions" });
  }

  /** Returns the changes since the last poll. */
  async changes(id: string): Promise<unknown[]> {
    this.#poll(id);
    await this.#service.delivered();
    const filter = this.#poll(id);
    this.#bytes -= filter.bytes;
    filter.bytes = 0;
    filter.count = 0;
    return filter.changes.splice(0).flat();
  }

  /** Returns all logs that match a filter. */
  async logs(id: string, signal?: AbortSignal): Promise<unknown> {
    const { query } = this.#poll(id);
    if (query === undefined) throw new EthError("filter not found");
    return this.#service.call("getLogs", { query }, signal);
  }

  remove(id: string): boolean {
    const filter = this.#filters.get(id);
    filter?.end();
    this.#bytes -= filter?.bytes ?? 0;
    return this.#filters.delete(id);
  }

  #drop(id: string, reason: string): void {
    this.remove(id);
    this.#reasons.set(id, reason);
    for (const oldest of this.#reasons.keys()) {
      if (this.#reasons.size <= MAX_REASONS) break;
      this.#reasons.delete(oldest);
    }
  }

  #add(subscription: EthSubscription, query?: LogQuery): string {
    this.#expire();
    if (this.#filters.size >= MAX_FILTERS) throw new EthError(`too many filters (limit ${MAX_FILTERS})`, -32005);
    const id = `0x${(++this.#lastId).toString(16)}`;
    const isHead = subscription.kind === "newHeads";
    const deliver = (results: readonly unknown[]) => {
      if (query !== undefined && !isInRange(query, results)) return;
      const changes = isHead ? results.map((header) => (header as { hash: string }).hash) : results;
      const bytes = this.#sizeOf(changes);
      filter.changes.push(changes);
      filter.count += changes.length;
      filter.bytes += bytes;
      this.#bytes += bytes;
      if (this.#now() - filter.polledAt > EXPIRY_MS) this.#drop(id, EXPIRED);
      else if (filter.count > MAX_CHANGES) this.#drop(id, `it had more than ${MAX_CHANGES} unfetched changes`);
      else this.#dropLargest();
    };
    const end = this.#service.subscribe(subscription, deliver, () => this.#drop(id, OVERLOADED));
    const filter: Filter = { query, changes: [], count: 0, bytes: 0, polledAt: this.#now(), end };
    this.#filters.set(id, filter);
    return id;
  }

  #sizeOf(changes: readonly unknown[]): number {
    let size = this.#sizes.get(changes);
    if (size === undefined) {
      size = changes.reduce((sum: number, change) => sum + sizeOf(change), 0);
      this.#sizes.set(changes, size);
    }
    return size;
  }

  #poll(id: string): Filter {
    this.#expire();
    const filter = this.#filters.get(id);
    if (filter === undefined) {
      const reason = this.#reasons.get(id);
      throw new EthError(reason === undefined ? "filter not found" : `filter not found: ${reason}`);
    }
    filter.polledAt = this.#now();
    return filter;
  }

  #expire(): void {
    const oldest = this.#now() - EXPIRY_MS;
    for (const [id, { polledAt }] of this.#filters) if (polledAt < oldest) this.#drop(id, EXPIRED);
  }

  /** Drops the filters with the most unfetched changes until the remaining filters are within the limit. */
  #dropLargest(): void {
    while (this.#bytes > this.#maxBytes) {
      const [id] = [...this.#filters].reduce((largest, each) => (each[1].bytes > largest[1].bytes ? each : largest));
      this.#drop(id, `the unfetched changes of all filters exceeded ${this.#maxBytes} bytes, and it had the most`);
    }
  }
}

/** Returns the approximate size of a change, which is a log or a hash. */
function sizeOf(change: unknown): number {
  if (typeof change === "string") return change.length;
  return LOG_BYTES + ((change as { data?: string }).data?.length ?? 0);
}

/** Returns true if the block is within the query's block range. Tags other than "earliest" impose no bound. */
function isInRange({ fromBlock, toBlock }: LogQuery, logs: readonly unknown[]): boolean {
  const number = BigInt((logs[0] as { blockNumber: string }).blockNumber);
  if (fromBlock !== undefined && "number" in fromBlock && number < fromBlock.number) return false;
  return toBlock === undefined || !("number" in toBlock) || number <= toBlock.number;
}
