import { setImmediate } from "node:timers";

const SLICE_MS = 15;

const waiters: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Only one waiter resumes per turn, in FIFO order, so concurrent long tasks
 * never block the event loop for more than one slice.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiters.push(resolve) === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiters.shift()?.();
  if (waiters.length > 0) setImmediate(resumeNext);
}

/** Time slicing for long synchronous work, such as verifying thousands of signatures. */
export class TimeSlice {
  readonly #sliceMs: number;
  readonly #now: () => number;
  #startedAt: number;

  constructor(sliceMs = SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
    this.#startedAt = now();
  }

  /** Yields to the event loop if the slice is used up, then starts a new slice. */
  async yieldIfDue(): Promise<void> {
    if (this.#now() - this.#startedAt < this.#sliceMs) return;
    await yieldToEventLoop();
    this.#startedAt = this.#now();
  }
}
