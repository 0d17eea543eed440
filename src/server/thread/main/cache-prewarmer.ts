import type { ThreadOutbox } from "../../../threads/outbox.ts";
import type { CacheDependency } from "../../method-table.ts";
import { REVISION_INDEXES, type ToThread, type Validity } from "../messages/protocol.ts";

/** Recomputes and sends the response. Errors are ignored, because later callers will get them. */
type Respond = (validity: Validity) => Promise<void>;

interface PrewarmedCall {
  on: Exclude<CacheDependency, "nothing">;
  answer: Respond;
  /** True for lists, which take several turns of the event loop. Other responses do not wait for a list. */
  isList: boolean;
  /** Revision of the last response. */
  revision: number | undefined;
  /** True while a response is being computed. */
  isRunning: boolean;
}

/** Maximum number of prewarmed calls. */
const MAX_PREWARMED_CALLS = 64;
/** Maximum time budget for one burst. A syncing node changes its head hundreds of times per second. */
const MAX_BUDGET_MS = 20;
const BUDGET_SHARE = 1 / 20;

/**
 * Recomputes the responses to frequent calls as soon as their revision changes, before the main thread does anything
 * else. The next caller is then served from the server thread's cache, even if the main thread is busy.
 */
export class CachePrewarmer {
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #revision: Int32Array;
  readonly #now: () => number;
  readonly #calls = new Map<number, PrewarmedCall>();
  #isDue = false;
  #budgetMs = MAX_BUDGET_MS;
  #budgetAt: number;

  constructor(outbox: ThreadOutbox<ToThread>, revision: Int32Array, now: () => number = () => performance.now()) {
    this.#outbox = outbox;
    this.#revision = revision;
    this.#now = now;
    this.#budgetAt = now();
  }

  add(id: number, { on, isList, answer }: Pick<PrewarmedCall, "on" | "isList" | "answer">): void {
    if (this.#calls.size < MAX_PREWARMED_CALLS)
      this.#calls.set(id, { on, isList, answer, revision: undefined, isRunning: false });
  }

  delete(id: number): void {
    this.#calls.delete(id);
  }

  clear(): void {
    this.#calls.clear();
  }

  /** Schedules prewarming after a revision has changed, to run once the current task has finished. */
  schedule(): void {
    if (this.#isDue || this.#calls.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#prewarm();
    });
  }

  #prewarm(): void {
    const startedAt = this.#now();
    this.#budgetMs = Math.min(MAX_BUDGET_MS, this.#budgetMs + (startedAt - this.#budgetAt) * BUDGET_SHARE);
    let running = 1;
    const end = () => {
      if (--running === 0) this.#outbox.flush();
    };
    for (const call of this.#calls.values()) {
      if (this.#now() - startedAt >= this.#budgetMs) break;
      const { on, isList, answer } = call;
      const revision = Atomics.load(this.#revision, REVISION_INDEXES[on]);
      if (call.revision === revision || call.isRunning) continue;
      call.revision = revision;
      call.isRunning = true;
      if (!isList) running++;
      const onAnswered = () => {
        call.isRunning = false;
        if (isList) this.#outbox.flush();
        else end();
        if (Atomics.load(this.#revision, REVISION_INDEXES[on]) !== revision) this.schedule();
      };
      answer({ on, revision, isPrewarmed: true }).then(onAnswered, onAnswered);
    }
    end();
    this.#budgetAt = this.#now();
    this.#budgetMs -= this.#budgetAt - startedAt;
  }
}
