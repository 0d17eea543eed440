import { EthError } from "../eth-error.ts";
import type { EthService } from "../eth-service.ts";
import { checkRange, type LogQuery } from "./find-logs.ts";
import type { EthSubscription } from "./subscription.ts";

interface Filter {
  /** Only for logs. */
  query: LogQuery | undefined;
  changes: unknown[];
  polledAt: number;
  end(): void;
}

const EXPIRY_MS = 5 * 60 * 1000;
const MAX_FILTERS = 1000;
/** A filter with more unfetched changes is dropped. */
const MAX_CHANGES = 20_000;

/** Filters polled by clients. They collect what the service delivers, and so survive a restart of its thread. */
export class Filters {
  readonly #service: Pick<EthService, "call" | "subscribe" | "delivered">;
  readonly #now: () => number;
  readonly #filters = new Map<string, Filter>();
  #lastId = 0;

  constructor(service: Pick<EthService, "call" | "subscribe" | "delivered">, now: () => number = Date.now) {
    this.#service = service;
    this.#now = now;
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
    return this.#poll(id).changes.splice(0);
  }

  /** Returns all logs of a filter. */
  async logs(id: string, signal?: AbortSignal): Promise<unknown> {
    const { query } = this.#poll(id);
    if (query === undefined) throw new EthError("filter not found");
    return this.#service.call("getLogs", { query }, signal);
  }

  remove(id: string): boolean {
    this.#filters.get(id)?.end();
    return this.#filters.delete(id);
  }

  #add(subscription: EthSubscription, query?: LogQuery): string {
    this.#expire();
    if (this.#filters.size >= MAX_FILTERS) throw new EthError(`too many filters (limit ${MAX_FILTERS})`, -32005);
    const id = `0x${(++this.#lastId).toString(16)}`;
    const isHead = subscription.kind === "newHeads";
    const isInRange = query === undefined ? () => true : rangeFilter(query);
    const end = this.#service.subscribe(subscription, (results) => {
      const changes = isHead ? results.map((header) => (header as { hash: string }).hash) : results.filter(isInRange);
      filter.changes.push(...changes);
      const isOld = this.#now() - filter.polledAt > EXPIRY_MS;
      if (isOld || filter.changes.length > MAX_CHANGES) this.remove(id);
    });
    const filter: Filter = { query, changes: [], polledAt: this.#now(), end };
    this.#filters.set(id, filter);
    return id;
  }

  #poll(id: string): Filter {
    this.#expire();
    const filter = this.#filters.get(id);
    if (filter === undefined) throw new EthError("filter not found");
    filter.polledAt = this.#now();
    return filter;
  }

  #expire(): void {
    const oldest = this.#now() - EXPIRY_MS;
    for (const [id, { polledAt }] of this.#filters) if (polledAt < oldest) this.remove(id);
  }
}

/** Checks logs against the block numbers of a query. Tags other than "earliest" do not bound it. */
function rangeFilter({ fromBlock, toBlock }: LogQuery): (log: unknown) => boolean {
  const from = fromBlock !== undefined && "number" in fromBlock ? fromBlock.number : 0n;
  const to = toBlock !== undefined && "number" in toBlock ? toBlock.number : undefined;
  return (log) => {
    const number = BigInt((log as { blockNumber: string }).blockNumber);
    return number >= from && (to === undefined || number <= to);
  };
}
