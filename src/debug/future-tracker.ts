import { type AsyncHook, createHook, executionAsyncId } from "node:async_hooks";
import { type Place, PlaceFinder } from "./creation-place.ts";

/** A promise that nobody has settled yet, in the words of the historical server. */
export interface PendingFuture {
  id: string;
  /** The promise that this one waits for; empty when it waits for none that is known. */
  child_id: string;
  procname: string;
  filename: string;
  line: number;
  state: "Pending";
}

interface Tracked {
  place: Place;
  child: number | undefined;
}

/** A healthy node has some hundred promises pending. */
const DEFAULT_LIMIT = 50_000;

/**
 * Knows which promises of this thread are pending, and where they were made. Every promise costs a look at the stack, so
 * this is for finding out what a node waits for, not for everyday use.
 */
export class FutureTracker {
  readonly #tracked = new Map<number, Tracked>();
  readonly #places = new PlaceFinder();
  readonly #hook: AsyncHook;
  readonly #limit: number;

  /** One for the whole life of the process. */
  static started(): FutureTracker {
    const tracker = new FutureTracker();
    tracker.start();
    return tracker;
  }

  /** Beyond `limit`, new promises go unseen until others settle: in a leak, it is the first ones that tell the story. */
  constructor({ limit = DEFAULT_LIMIT }: { limit?: number } = {}) {
    this.#limit = limit;
    const forget = (id: number) => {
      this.#tracked.delete(id);
    };
    this.#hook = createHook({
      init: (id, type, trigger) => {
        if (type === "PROMISE") this.#track(id, trigger);
      },
      promiseResolve: forget,
      // A promise that is no longer reachable will never settle, and nothing waits for it.
      destroy: forget,
    });
  }

  start(): void {
    this.#hook.enable();
  }

  close(): void {
    this.#hook.disable();
    this.#tracked.clear();
  }

  /** In the order of their making. */
  pending(): PendingFuture[] {
    return Array.from(this.#tracked, ([id, { place, child }]) => ({
      id: String(id),
      child_id: child !== undefined && this.#tracked.has(child) ? String(child) : "",
      ...place,
      state: "Pending",
    }));
  }

  #track(id: number, trigger: number): void {
    if (this.#tracked.size >= this.#limit) return;
    // One that was made by `then` or `await` is triggered by the promise it waits for, any other by what just runs.
    const child = trigger === executionAsyncId() ? undefined : trigger;
    this.#tracked.set(id, { place: this.#places.find(), child });
  }
}
