import { yieldToEventLoop } from "../../async/time-slice.ts";

/** Time slice of a call, after which it yields to other work of the thread. */
const SLICE_MS = 5;
/** Jump destinations between checks of the clock. */
const JUMPS_PER_CHECK = 64;

/** A call ran for longer than its time limit. */
export class CallTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`execution aborted (timeout = ${timeoutMs / 1000}s)`);
    this.name = "CallTimeoutError";
  }
}

/** Limits the duration of a call, and yields to other work of the thread. */
export class CallBudget {
  readonly #timeoutMs: number;
  readonly #deadline: number;
  readonly #signal: AbortSignal | undefined;
  #sliceEnd = performance.now() + SLICE_MS;
  #jumps = 0;

  constructor(timeoutMs: number, signal?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#deadline = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  /** Called at each JUMPDEST, which every loop passes. Throws when the time is up or the call was cancelled. */
  onJump(): Promise<void> | undefined {
    if (++this.#jumps % JUMPS_PER_CHECK !== 0) return undefined;
    return this.checkpoint();
  }

  /**
   * Called before each message, since recursion needs no jumps. Throws when the time is up or the call was cancelled,
   * but not later.
   */
  onMessage(next: () => void): void {
    this.#throwIfOver();
    const pause = this.checkpoint();
    if (pause === undefined) next();
    // The next message throws the reason.
    else pause.then(next, next);
  }

  /** Yields if the slice is used up. */
  checkpoint(): Promise<void> | undefined {
    return performance.now() < this.#sliceEnd ? undefined : this.#yield();
  }

  async #yield(): Promise<void> {
    this.#throwIfOver();
    await yieldToEventLoop();
    this.#throwIfOver();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }

  #throwIfOver(): void {
    this.#signal?.throwIfAborted();
    if (performance.now() > this.#deadline) throw new CallTimeoutError(this.#timeoutMs);
  }
}
