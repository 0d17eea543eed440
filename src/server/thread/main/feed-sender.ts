import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { copyForTransfer } from "../../../threads/transferred-bytes.ts";
import type { EventReader, Feed, StreamEvent } from "../../events/feed.ts";
import type { ToThread } from "../messages/protocol.ts";

/** Returns a feed for the given topics. */
export type FindFeed = (topics: readonly string[]) => Feed;

/** Sends each event to the server thread only once per feed, regardless of the number of readers. */
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

/** Stands for all readers of a feed in the server thread. */
class SharedReader implements EventReader {
  readers = 0;
  readonly #feed: number;
  readonly #outbox: ThreadOutbox<ToThread>;

  constructor(feed: number, outbox: ThreadOutbox<ToThread>) {
    this.#feed = feed;
    this.#outbox = outbox;
  }

  deliver({ topic, data }: StreamEvent): void {
    const bytes = copyForTransfer(data);
    this.#outbox.send(["event", this.#feed, topic, bytes], bytes);
  }

  disconnect(): void {
    this.#outbox.send(["disconnect", this.#feed]);
  }
}
