import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { FanOut, Subscriber } from "../../events/fan-out.ts";
import type { EventReader, Feed, StreamEvent } from "../../events/feed.ts";
import type { ToMain } from "../messages/protocol.ts";

interface RemoteFeed {
  number: number;
  subscribers: Set<Subscriber>;
  /** True once the main thread is delivering events. */
  isFollowed: boolean;
  /** Callbacks waiting for `isFollowed`. */
  waiting: (() => void)[];
}

const NO_READER: EventReader = { deliver: () => {}, disconnect: () => {} };

/** Feeds from the main thread. Readers of the same topics share a feed, so that each event is transferred only once. */
export class RemoteFeeds {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #fanOut = new FanOut();
  readonly #byTopics = new Map<string, RemoteFeed>();
  readonly #byNumber = new Map<number, RemoteFeed>();
  #last = 0;

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
  }

  /** Returns a feed for the topics. */
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
          subscriber.unsubscribe();
          if (!feed.subscribers.delete(subscriber)) return;
          if (feed.subscribers.size > 0) this.#count(feed);
          else this.#unfollow(key, feed);
        };
      },
    };
  }

  /**
   * Resolves once the main thread is delivering events on the topics. Delivery continues at least until the returned
   * function is called.
   */
  hold(topics: readonly string[]): Promise<() => void> {
    const end = this.feed(topics).open(NO_READER);
    const { isFollowed, waiting } = this.#byTopics.get(keyOf(topics))!;
    if (isFollowed) return Promise.resolve(end);
    return new Promise((resolve) => {
      waiting.push(() => resolve(end));
    });
  }

  onFollowing(feed: number): void {
    const open = this.#byNumber.get(feed);
    if (!open) return;
    open.isFollowed = true;
    for (const goOn of open.waiting.splice(0)) goOn();
  }

  deliver(feed: number, event: StreamEvent): void {
    const open = this.#byNumber.get(feed);
    if (open) this.#fanOut.publish(event, open.subscribers);
  }

  cutOff(feed: number): void {
    for (const subscriber of this.#byNumber.get(feed)?.subscribers ?? []) subscriber.disconnect();
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
