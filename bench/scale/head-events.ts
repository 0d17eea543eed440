import type { Slot } from "@lodestar/types";

/** The heads that a node tells of over REST, as they come. */
export class HeadEvents {
  readonly #ending = new AbortController();
  readonly #waiting = new Map<Slot, () => void>();
  #latest = -1;

  static async follow(restUrl: string): Promise<HeadEvents> {
    const events = new HeadEvents();
    const response = await fetch(`${restUrl}/eth/v1/events?topics=head`, { signal: events.#ending.signal });
    if (!response.ok || response.body === null) throw new Error(`There are no events: ${response.status}.`);
    void events.#read(response.body);
    return events;
  }

  /** Resolves when the block of the slot, or a later one, is the head. */
  async until(slot: Slot): Promise<void> {
    if (this.#latest < slot) await new Promise<void>((resolve) => this.#waiting.set(slot, resolve));
  }

  end(): void {
    this.#ending.abort();
  }

  /** Never rejects: who waits for a head that does not come learns it by the answer to its block. */
  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = "";
    try {
      for await (const bytes of body) {
        text += Buffer.from(bytes).toString();
        for (const [, slot] of text.matchAll(/"slot":"(\d+)"/g)) this.#take(Number(slot));
        text = text.slice(text.lastIndexOf("\n") + 1);
      }
    } catch {
      // It was ended, or the node is gone.
    }
  }

  #take(slot: Slot): void {
    this.#latest = slot;
    for (const [awaited, resolve] of this.#waiting) {
      if (awaited > slot) continue;
      this.#waiting.delete(awaited);
      resolve();
    }
  }
}
