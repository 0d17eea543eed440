import { FanOut, Subscriber } from "../events/fan-out.ts";
import type { EventReader, Feed, StreamEvent } from "../events/feed.ts";
import type { ThreadOutbox } from "./outbox.ts";
import type { ToMain } from "./protocol.ts";

interface RemoteFeed {
  number: number;
  subscribers: Set<Subscriber>;
  /** Whether the main thread tells what happens. */
  isFollowed: boolean;
  /** Those who wait for that. */
  waiting: (() => void)[];
}

const NOBODY: EventReader = { deliver: () => {}, cutOff: () => {} };

/** The feeds of the main thread. All readers of the same topics share one, so that an event comes once for all of them. */
export class RemoteFeeds {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #fanOut = new FanOut();
  readonly #byTopics = new Map<string, RemoteFeed>();
  readonly #byNumber = new Map<number, RemoteFeed>();
  #last = 0;

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
  }

  feed(topics: readonly string[]): Feed {
    const key = keyOf(topics);
    return {
      topics,
      open: (reader) => {
        const feed = this.#byTopics.get(key) ?? this.#follow(key, topics);
        const subscriber = new Subscriber(reader);
        feed.subscribers.add(subscriber);
        this.#count(feed);
        return () => {
          subscriber.leave();
          if (!feed.subscribers.delete(subscriber)) return;
          if (feed.subscribers.size > 0) this.#count(feed);
          else this.#unfollow(key, feed);
        };
      },
    };
  }

  /** Resolves when everything that happens of the topics is told, and goes on to be until the function that it gives is called. */
  hold(topics: readonly string[]): Promise<() => void> {
    const end = this.feed(topics).open(NOBODY);
    const { isFollowed, waiting } = this.#byTopics.get(keyOf(topics))!;
    if (isFollowed) return Promise.resolve(end);
    return new Promise((resolve) => {
      waiting.push(() => resolve(end));
    });
  }

  following(feed: number): void {
    const open = this.#byNumber.get(feed);
    if (!open) return;
    open.isFollowed = true;
    for (const goOn of open.waiting.splice(0)) goOn();
  }

  deliver(feed: number, event: StreamEvent): void {
    const open = this.#byNumber.get(feed);
    if (open) this.#fanOut.tell(event, open.subscribers);
  }

  cutOff(feed: number): void {
    for (const subscriber of this.#byNumber.get(feed)?.subscribers ?? []) subscriber.cutOff();
  }

  #follow(key: string, topics: readonly string[]): RemoteFeed {
    const feed: RemoteFeed = { number: ++this.#last, subscribers: new Set(), isFollowed: false, waiting: [] };
    this.#byTopics.set(key, feed);
    this.#byNumber.set(feed.number, feed);
    this.#outbox.send(["follow", feed.number, topics]);
    return feed;
  }

  #unfollow(key: string, { number }: RemoteFeed): void {
    this.#byTopics.delete(key);
    this.#byNumber.delete(number);
    this.#outbox.send(["unfollow", number]);
  }

  #count({ number, subscribers }: RemoteFeed): void {
    this.#outbox.send(["readers", number, subscribers.size]);
  }
}

const keyOf = (topics: readonly string[]): string => [...new Set(topics)].sort().join();
