import { FanOut, Subscriber } from "../../server/events/fan-out.ts";
import type { Feed, StreamEvent } from "../../server/events/feed.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import type { GatewayEvents } from "./gateway-events.ts";

const HEAD = 0;
const STATUS = 1;

/** Topics after which answers about the head may change. */
export const HEAD_CHANGE_TOPICS: ReadonlySet<string> = new Set([
  "head",
  "block",
  "chain_reorg",
  "finalized_checkpoint",
]);

export interface EventPublisherOptions {
  readonly health: HealthTracker;
  /** Called when the set of topics with subscribers changes. */
  onTopics?(topics: ReadonlySet<string>): void;
}

/**
 * Publishes events to the subscribers of this process, and maintains the revision counters. Fed by the merger in the
 * same process, or by messages from another process.
 */
export class EventPublisher implements GatewayEvents {
  readonly revision = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #options: EventPublisherOptions;
  readonly #fanOut = new FanOut();
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #eventCounts = new Map<string, number>();
  readonly #stopWatching: () => void;
  #newestHead: string;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#newestHead = newestHead(options.health);
    this.#stopWatching = options.health.onChange(() => this.#onHealthChange());
  }

  feed(topics: readonly string[]): Feed {
    return {
      topics,
      open: (reader) => {
        const subscriber = new Subscriber(reader);
        for (const topic of topics) this.#add(topic, subscriber);
        return () => {
          subscriber.unsubscribe();
          for (const topic of topics) this.#remove(topic, subscriber);
        };
      },
    };
  }

  publish(event: StreamEvent): void {
    this.#eventCounts.set(event.topic, (this.#eventCounts.get(event.topic) ?? 0) + 1);
    if (HEAD_CHANGE_TOPICS.has(event.topic)) this.#bumpHead();
    const subscribers = this.#subscribers.get(event.topic);
    if (subscribers) this.#fanOut.publish(event, subscribers);
  }

  /** Subscribers by topic. */
  get subscriberCounts(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#subscribers, ([topic, { size }]) => [topic, size]));
  }

  /** Published events by topic. */
  get eventCounts(): ReadonlyMap<string, number> {
    return this.#eventCounts;
  }

  /** Topics with subscribers. */
  get topics(): ReadonlySet<string> {
    return new Set(this.#subscribers.keys());
  }

  /** Disconnects all subscribers, because events were lost. */
  cutOff(): void {
    const all = new Set(Array.from(this.#subscribers.values(), (subscribers) => [...subscribers]).flat());
    for (const subscriber of all) subscriber.disconnect();
  }

  close(): void {
    this.#stopWatching();
  }

  #add(topic: string, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(topic);
    if (subscribers) {
      subscribers.add(subscriber);
    } else {
      this.#subscribers.set(topic, new Set([subscriber]));
      this.#options.onTopics?.(this.topics);
    }
  }

  #remove(topic: string, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(topic);
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return;
    this.#subscribers.delete(topic);
    this.#options.onTopics?.(this.topics);
  }

  /** Also polls for head changes, in case no events arrive. */
  #onHealthChange(): void {
    const head = newestHead(this.#options.health);
    if (head === this.#newestHead) Atomics.add(this.revision, STATUS, 1);
    else this.#bumpHead();
    this.#newestHead = head;
  }

  #bumpHead(): void {
    Atomics.add(this.revision, HEAD, 1);
    Atomics.add(this.revision, STATUS, 1);
  }
}

function newestHead({ all }: HealthTracker): string {
  let newest: { slot: number; root: string } | undefined;
  for (const { head } of all) if (head && head.slot > (newest?.slot ?? -1)) newest = head;
  return newest ? `${newest.slot} ${newest.root}` : "";
}
