import { type AsyncHook, createHook, executionAsyncId } from "node:async_hooks";
import { type CallSite, CallSiteFinder } from "./call-site.ts";

/** A pending promise, in the format of the debug method of the original Nimbus JSON-RPC server. */
export interface PendingPromise {
  id: string;
  /** Id of the promise that this one awaits, or empty if unknown. */
  child_id: string;
  procname: string;
  filename: string;
  line: number;
  state: "Pending";
}

interface TrackedPromise {
  createdAt: CallSite;
  child: number | undefined;
}

/** A healthy node has a few hundred pending promises. */
const DEFAULT_LIMIT = 50_000;

/**
 * Tracks pending promises of this thread and where they were created. Expensive: captures a stack trace per promise.
 */
export class PromiseTracker {
  readonly #tracked = new Map<number, TrackedPromise>();
  readonly #callSites = new CallSiteFinder();
  readonly #hook: AsyncHook;
  readonly #limit: number;

  /** Creates and starts a tracker. */
  static started(): PromiseTracker {
    const tracker = new PromiseTracker();
    tracker.start();
    return tracker;
  }

  /** Ignores new promises while `limit` are pending, since the oldest promises show the cause of a leak. */
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
      // A garbage-collected promise never settles.
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

  /** Returns pending promises in order of creation. */
  pending(): PendingPromise[] {
    return Array.from(this.#tracked, ([id, { createdAt, child }]) => ({
      id: String(id),
      child_id: child !== undefined && this.#tracked.has(child) ? String(child) : "",
      ...createdAt,
      state: "Pending",
    }));
  }

  #track(id: number, trigger: number): void {
    if (this.#tracked.size >= this.#limit) return;
    // A promise created by `then` or `await` is triggered by the promise it awaits, any other by the running resource.
    const child = trigger === executionAsyncId() ? undefined : trigger;
    this.#tracked.set(id, { createdAt: this.#callSites.find(), child });
  }
}
