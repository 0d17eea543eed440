import type { Slot } from "@lodestar/types";

/** Follows the head events of a node over REST. */
export class HeadEvents {
  readonly #ending = new AbortController();
  readonly #waiting = new Map<Slot, () => void>();
  #latest = -1;

  static async follow(restUrl: string): Promise<HeadEvents> {
    const events = new HeadEvents();
    const response = await fetch(`${restUrl}/eth/v1/events?topics=head`, { signal: events.#ending.signal });
    if (!response.ok || response.body === null)
      throw new Error(`The event stream failed with status ${response.status}.`);
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

  /** Never rejects: if a head does not arrive, publishing its block fails. */
  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = "";
    try {
      for await (const bytes of body) {
        text += Buffer.from(bytes).toString();
        for (const [, slot] of text.matchAll(/"slot":"(\d+)"/g)) this.#take(Number(slot));
        text = text.slice(text.lastIndexOf("\n") + 1);
      }
    } catch {
      // Aborted, or the node stopped.
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
