import type { EventReader, Feed } from "./feed.ts";

/** A made-up feed, whose events the test makes happen. */
export class Channel {
  readonly #readers = new Set<EventReader>();

  get readers(): number {
    return this.#readers.size;
  }

  readonly feed: Feed = {
    topics: ["head"],
    open: (reader) => {
      this.#readers.add(reader);
      return () => this.#readers.delete(reader);
    },
  };

  /** As a feed does whose readers are too many. */
  cutOffAll(): void {
    for (const reader of this.#readers) reader.cutOff();
  }

  publish(data: unknown, topic = "head"): void {
    const event = { topic, data: Buffer.from(JSON.stringify(data)) };
    for (const reader of this.#readers) reader.deliver(event);
  }

  /** Publishes events, each with its number, until nobody reads them any more; returns how many there were. */
  async publishUntilCut(bytes: number): Promise<number> {
    const padding = "x".repeat(bytes);
    let count = 0;
    while (this.readers > 0) {
      if (count > 100_000) throw new Error("Nobody was cut off.");
      this.publish({ number: count++, padding });
      // What can be written is written now.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return count;
  }
}
