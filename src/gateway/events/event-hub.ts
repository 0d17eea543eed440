import type { Feed } from "../../server/events/feed.ts";
import type { CacheSettings, UpstreamSettings } from "../settings.ts";
import { AnnouncedEvents } from "./announced-events.ts";
import { type ChainEvent, headOf } from "./chain-event.ts";
import { EventMerger, type EventMergerOptions } from "./event-merger.ts";
import { EventPublisher } from "./event-publisher.ts";
import type { GatewayEvents } from "./gateway-events.ts";
import { SharedEventLog } from "./shared-event-log.ts";
import { isAlwaysOn } from "./topics.ts";

export interface EventHubOptions extends Omit<EventMergerOptions, "publish"> {
  /** Redis, so that all gateways publish the same events in the same order. */
  readonly cache?: CacheSettings;
  readonly leaseMillis?: number;
}

/** Merges the events of all upstreams and publishes them to the subscribers of this process. */
export class EventHub implements GatewayEvents {
  readonly #options: EventHubOptions;
  readonly #publisher: EventPublisher;
  readonly #merger: EventMerger;
  readonly #sharedLog: SharedEventLog | undefined;

  constructor(options: EventHubOptions) {
    this.#options = options;
    const { cache } = options;
    const publish = (event: ChainEvent) => this.#publish(event);
    this.#merger = new EventMerger({
      ...options,
      publish: (event) =>
        this.#sharedLog && isAlwaysOn(event.topic) ? this.#sharedLog.publish(event) : publish(event),
    });
    this.#publisher = new EventPublisher({
      health: options.health,
      onTopics: (topics) => this.#merger.setTopics(topics),
    });
    if (cache) this.#sharedLog = new SharedEventLog({ ...options, cache, producer: this.#merger, publish });
    else this.#merger.activate(new AnnouncedEvents(options.chainSpec));
  }

  get revision(): Int32Array {
    return this.#publisher.revision;
  }

  /** Subscribers by topic. */
  get subscriberCounts(): ReadonlyMap<string, number> {
    return this.#publisher.subscriberCounts;
  }

  /** Published events by topic. */
  get eventCounts(): ReadonlyMap<string, number> {
    return this.#publisher.eventCounts;
  }

  feed(topics: readonly string[]): Feed {
    return this.#publisher.feed(topics);
  }

  setUpstreams(upstreams: readonly UpstreamSettings[]): void {
    this.#merger.setUpstreams(upstreams);
  }

  async close(): Promise<void> {
    await this.#sharedLog?.close();
    await this.#merger.close();
    this.#publisher.close();
  }

  #publish(event: ChainEvent): void {
    const head = event.topic === "head" ? headOf(event) : undefined;
    // Subscribers will request the new head.
    if (head) this.#options.health.raiseHeadFloor(head.slot);
    this.#publisher.publish(event);
  }
}
