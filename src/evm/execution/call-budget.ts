import { yieldToEventLoop } from "../../async/time-slice.ts";

/** Time slice after which a call yields to the thread's other work. */
const SLICE_MS = 5;
/** Number of JUMPDESTs between checks of the clock. */
const JUMPS_PER_CHECK = 64;

/**
 * Time slicing and cancellation for a call. After each slice, the call yields to the thread's other work. Code that
 * neither jumps nor calls is not interrupted.
 */
export class CallBudget {
  readonly #signal: AbortSignal | undefined;
  #sliceEnd = performance.now() + SLICE_MS;
  #jumps = 0;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Called at each JUMPDEST, which every loop contains. Throws if the call has been cancelled. */
  onJump(): Promise<void> | undefined {
    if (++this.#jumps % JUMPS_PER_CHECK !== 0) return undefined;
    return this.checkpoint();
  }

  /**
   * Called before each message, because recursion needs no jumps. Throws if the call has already been cancelled. A
   * cancellation during the pause surfaces at the next message.
   */
  onMessage(next: () => void): void {
    this.#signal?.throwIfAborted();
    const pause = this.checkpoint();
    if (pause === undefined) next();
    // After a cancellation, the next message throws the reason.
    else pause.then(next, next);
  }

  /** Yields if the time slice is used up. */
  checkpoint(): Promise<void> | undefined {
    return performance.now() < this.#sliceEnd ? undefined : this.#yield();
  }

  async #yield(): Promise<void> {
    this.#signal?.throwIfAborted();
    await yieldToEventLoop();
    this.#signal?.throwIfAborted();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}
