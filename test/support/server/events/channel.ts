import type { EventReader, Feed } from "../../../../src/server/events/feed.ts";

/** Feed whose events are published by the test. */
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

  /** Simulates overload. */
  disconnectAll(): void {
    for (const reader of this.#readers) reader.disconnect();
  }

  publish(data: unknown, topic = "head"): void {
    const event = { topic, data: Buffer.from(JSON.stringify(data)) };
    for (const reader of this.#readers) reader.deliver(event);
  }

  /** Publishes numbered events until all readers are disconnected. Returns their count. */
  async publishUntilDisconnected(bytes: number): Promise<number> {
    const padding = "x".repeat(bytes);
    let count = 0;
    while (this.readers > 0) {
      if (count > 100_000) throw new Error("No reader was disconnected.");
      this.publish({ number: count++, padding });
      // Lets the sockets write.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return count;
  }
}
