import { type ExecutionEngine, isReachable } from "../../execution/engine.ts";
import { type Clock, slotMs } from "../clock/clock.ts";
import type { SyncStatus } from "../head/sync-status.ts";
import type { ImportQueue } from "../import/import-queue.ts";
import type { PayloadQueue } from "../payloads/payload-queue.ts";
import type { EngineNotifier } from "./engine-notifier.ts";

interface PendingVerdictsParts {
  clock: Clock;
  engine: ExecutionEngine;
  status: Pick<SyncStatus, "isOptimistic">;
  notifier: Pick<EngineNotifier, "notify" | "idle">;
  importQueue: Pick<ImportQueue, "retryWaiting">;
  payloadQueue: Pick<PayloadQueue, "retryWaiting">;
}

/** Timeout for a pending engine response: one second of a 12-second slot. */
const ANSWER_SHARE_OF_SLOT = 1 / 12;

/** Waits for pending verdicts from the execution engine, with a timeout. */
export class PendingVerdicts {
  readonly #parts: PendingVerdictsParts;

  constructor(parts: PendingVerdictsParts) {
    this.#parts = parts;
  }

  /** Resolves when an unavailable engine should be retried: when it is reachable again, or at the next slot. */
  async untilRetryDue(signal: AbortSignal): Promise<void> {
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
   * Requests missing verdicts on the head and on blocks waiting for the engine. May change the head. Waits up to the
   * timeout.
   */
  async retry(): Promise<void> {
    const { status, notifier, importQueue, payloadQueue } = this.#parts;
    const isRetried = Promise.all([importQueue.retryWaiting(), payloadQueue.retryWaiting()]);
    await this.#untilAnswered(async () => {
      await isRetried;
      if (!status.isOptimistic) return;
      notifier.notify();
      await notifier.idle();
    });
  }

  /** Waits up to the timeout for the pending verdict on the head. */
  async untilHeadVerdict(): Promise<void> {
    await this.#untilAnswered(() => this.#parts.notifier.idle());
  }

  async #untilAnswered(answered: () => Promise<void>): Promise<void> {
    const { clock, engine } = this.#parts;
    if (!isReachable(engine.state)) return;
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, slotMs(clock) * ANSWER_SHARE_OF_SLOT).unref();
    try {
      await Promise.race([answered(), timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
