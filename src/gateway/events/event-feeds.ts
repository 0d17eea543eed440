import { FanOut, Subscriber } from "../../server/events/fan-out.ts";
import type { Feed, StreamEvent } from "../../server/events/feed.ts";
import type { Conditions } from "../condition.ts";
import type { GatewayEvents } from "../events.ts";

const HEAD = 0;
const STATUS = 1;

/** After these an answer about the head may be another one. */
export const CHANGING_TOPICS: ReadonlySet<string> = new Set(["head", "block", "chain_reorg", "finalized_checkpoint"]);

export interface EventFeedsOptions {
  readonly conditions: Conditions;
  /** Hears which topics are read whenever these are others. */
  onTopics?(topics: ReadonlySet<string>): void;
}

/**
 * Tells the readers of this process what happens, whoever found it out: it is fed by the merged events where they are in the same
 * process, and by messages where they are in another one.
 */
export class EventFeeds implements GatewayEvents {
  readonly revision = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #options: EventFeedsOptions;
  readonly #fanOut = new FanOut();
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #told = new Map<string, number>();
  readonly #endWatch: () => void;
  #newestHead: string;

  constructor(options: EventFeedsOptions) {
    this.#options = options;
    this.#newestHead = newestHead(options.conditions);
    this.#endWatch = options.conditions.onChange(() => this.#conditionsChanged());
  }

  feed(topics: readonly string[]): Feed {
    return {
      topics,
      open: (reader) => {
        const subscriber = new Subscriber(reader);
        for (const topic of topics) this.#add(topic, subscriber);
        return () => {
          subscriber.leave();
          for (const topic of topics) this.#remove(topic, subscriber);
        };
      },
    };
  }

  tell(event: StreamEvent): void {
    this.#told.set(event.topic, (this.#told.get(event.topic) ?? 0) + 1);
    if (CHANGING_TOPICS.has(event.topic)) this.#raise();
    const subscribers = this.#subscribers.get(event.topic);
    if (subscribers) this.#fanOut.tell(event, subscribers);
  }

  /** How many read each topic that anybody reads. */
  get readers(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#subscribers, ([topic, { size }]) => [topic, size]));
  }

  /** How many events of each topic have been told. */
  get told(): ReadonlyMap<string, number> {
    return this.#told;
  }

  /** The topics that somebody reads. */
  get topics(): ReadonlySet<string> {
    return new Set(this.#subscribers.keys());
  }

  /** Nobody here gets the events that were to be told. */
  cutOff(): void {
    const all = new Set(Array.from(this.#subscribers.values(), (subscribers) => [...subscribers]).flat());
    for (const subscriber of all) subscriber.cutOff();
  }

  close(): void {
    this.#endWatch();
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

  /** Without events, too, what the upstreams are asked about their heads shows that these have moved. */
  #conditionsChanged(): void {
    const newest = newestHead(this.#options.conditions);
    if (newest === this.#newestHead) Atomics.add(this.revision, STATUS, 1);
    else this.#raise();
    this.#newestHead = newest;
  }

  #raise(): void {
    Atomics.add(this.revision, HEAD, 1);
    Atomics.add(this.revision, STATUS, 1);
  }
}

function newestHead({ all }: Conditions): string {
  let newest: { slot: number; root: string } | undefined;
  for (const { head } of all) if (head && head.slot > (newest?.slot ?? -1)) newest = head;
  return newest ? `${newest.slot} ${newest.root}` : "";
}
