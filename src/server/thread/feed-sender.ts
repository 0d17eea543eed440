import type { EventReader, Feed, StreamEvent } from "../events/feed.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { passCopy } from "./passed-bytes.ts";
import type { ToThread } from "./protocol.ts";

/** Finds the feed of some topics. */
export type FindFeed = (topics: readonly string[]) => Feed;

/** Tells the thread of the servers what happens of the topics that are read there: once, however many read it. */
export class FeedSender {
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #find: FindFeed;
  readonly #open = new Map<number, { reader: SharedReader; end: () => void }>();

  constructor(outbox: ThreadOutbox<ToThread>, find: FindFeed) {
    this.#outbox = outbox;
    this.#find = find;
  }

  follow(feed: number, topics: readonly string[]): void {
    const reader = new SharedReader(feed, this.#outbox);
    this.#open.set(feed, { reader, end: this.#find(topics).open(reader) });
    this.#outbox.send(["following", feed]);
  }

  countReaders(feed: number, count: number): void {
    const open = this.#open.get(feed);
    if (open) open.reader.readers = count;
  }

  unfollow(feed: number): void {
    this.#open.get(feed)?.end();
    this.#open.delete(feed);
  }

  close(): void {
    for (const feed of this.#open.keys()) this.unfollow(feed);
  }
}

/** Stands for all readers of a feed in the other thread. */
class SharedReader implements EventReader {
  readers = 0;
  readonly #feed: number;
  readonly #outbox: ThreadOutbox<ToThread>;

  constructor(feed: number, outbox: ThreadOutbox<ToThread>) {
    this.#feed = feed;
    this.#outbox = outbox;
  }

  deliver({ topic, data }: StreamEvent): void {
    const bytes = passCopy(data);
    this.#outbox.send(["event", this.#feed, topic, bytes], bytes);
  }

  cutOff(): void {
    this.#outbox.send(["cut off", this.#feed]);
  }
}
