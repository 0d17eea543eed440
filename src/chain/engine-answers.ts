import { SYSTEM_TIMERS } from "../async/timers.ts";
import { type ExecutionEngine, isReachable } from "../execution/engine.ts";
import { type Clock, slotMs } from "./clock/clock.ts";
import type { EngineNotifier } from "./engine-notifier.ts";
import type { ImportQueue } from "./import/import-queue.ts";
import type { SyncStatus } from "./sync-status.ts";

interface EngineAnswersParts {
  clock: Clock;
  engine: ExecutionEngine;
  status: Pick<SyncStatus, "isOptimistic">;
  notifier: Pick<EngineNotifier, "notify" | "idle">;
  importQueue: Pick<ImportQueue, "retryWaiting">;
}

/** How long a duty waits for the execution engine's answer: a second of a slot of twelve. */
const ANSWER_SHARE_OF_SLOT = 1 / 12;

/** Waits, within bounds, for what the execution engine has not told of the chain yet. */
export class EngineAnswers {
  readonly #parts: EngineAnswersParts;

  constructor(parts: EngineAnswersParts) {
    this.#parts = parts;
  }

  /** Resolves when it is time to ask the execution engine again, which could not be asked: at the latest in the next slot. */
  async untilWorthAsking(signal: AbortSignal): Promise<void> {
    const { clock, engine } = this.#parts;
    const over = Promise.withResolvers<void>();
    const ends = [
      clock.onSlot(() => over.resolve()),
      engine.onStateChange((state) => {
        if (isReachable(state)) over.resolve();
      }),
    ];
    const onAbort = () => over.reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      signal.throwIfAborted();
      await over.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      for (const end of ends) end();
    }
  }

  /**
   * Asks the execution engine for what it could not tell before of the head and of the blocks that wait for it, which may make
   * another block the head. A part of a slot is waited for it, and no more.
   */
  async askAgain(): Promise<void> {
    const { status, notifier, importQueue } = this.#parts;
    const isRetried = importQueue.retryWaiting();
    await this.#untilAnswered(async () => {
      await isRetried;
      if (!status.isOptimistic) return;
      notifier.notify();
      await notifier.idle();
    });
  }

  /** Waits as long for what the execution engine is asked about the head already. */
  async untilHeadIsJudged(): Promise<void> {
    await this.#untilAnswered(() => this.#parts.notifier.idle());
  }

  async #untilAnswered(answered: () => Promise<void>): Promise<void> {
    const { clock, engine } = this.#parts;
    if (!isReachable(engine.state)) return;
    const done = new AbortController();
    const tooLate = SYSTEM_TIMERS.sleep(slotMs(clock) * ANSWER_SHARE_OF_SLOT, done.signal);
    try {
      await Promise.race([answered(), tooLate]);
    } finally {
      done.abort();
      tooLate.catch(() => undefined);
    }
  }
}
