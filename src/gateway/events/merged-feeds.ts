import type { Feed } from "../../server/events/feed.ts";
import type { GatewayEvents } from "../events.ts";
import type { CacheOptions } from "../options.ts";
import { type ChainEvent, headOf } from "./chain-event.ts";
import { EventFeeds } from "./event-feeds.ts";
import { MergedEvents, type MergedEventsOptions } from "./merged-events.ts";
import { SharedEvents } from "./shared-events.ts";
import { Told } from "./told.ts";
import { isSteady } from "./topics.ts";

export interface MergedFeedsOptions extends Omit<MergedEventsOptions, "tell"> {
  /** By which all gateways tell the same. */
  readonly cache?: CacheOptions;
  readonly leaseMillis?: number;
}

/** The events of all upstreams, for the readers of this process. */
export class MergedFeeds implements GatewayEvents {
  readonly #options: MergedFeedsOptions;
  readonly #feeds: EventFeeds;
  readonly #merged: MergedEvents;
  readonly #shared: SharedEvents | undefined;

  constructor(options: MergedFeedsOptions) {
    this.#options = options;
    const { cache } = options;
    const tell = (event: ChainEvent) => this.#tell(event);
    this.#merged = new MergedEvents({
      ...options,
      tell: (event) => (this.#shared && isSteady(event.topic) ? this.#shared.offer(event) : tell(event)),
    });
    this.#feeds = new EventFeeds({
      conditions: options.conditions,
      onTopics: (topics) => this.#merged.follow(topics),
    });
    if (cache) this.#shared = new SharedEvents({ ...options, cache, finder: this.#merged, tell });
    else this.#merged.activate(new Told(options.facts));
  }

  get revision(): Int32Array {
    return this.#feeds.revision;
  }

  /** How many read each topic that anybody reads. */
  get readers(): ReadonlyMap<string, number> {
    return this.#feeds.readers;
  }

  /** How many events of each topic have been told. */
  get told(): ReadonlyMap<string, number> {
    return this.#feeds.told;
  }

  feed(topics: readonly string[]): Feed {
    return this.#feeds.feed(topics);
  }

  async close(): Promise<void> {
    await this.#shared?.close();
    await this.#merged.close();
    this.#feeds.close();
  }

  #tell(event: ChainEvent): void {
    const head = event.topic === "head" ? headOf(event) : undefined;
    // Whoever hears of it asks about it.
    if (head) this.#options.conditions.raiseFloor(head.slot);
    this.#feeds.tell(event);
  }
}
