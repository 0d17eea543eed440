import { setImmediate } from "node:timers";

const SLICE_MS = 15;

/** What waits for a turn of the event loop of its own. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, and only for one of those who wait in each turn: however many have long work to
 * do, nobody else waits for more than a slice of it.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/** Lets long synchronous work, such as thousands of signatures, give way to everything else the process has to do. */
export class TimeSlice {
  readonly #sliceMs: number;
  readonly #now: () => number;
  #startedAt: number;

  constructor(sliceMs = SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
    this.#startedAt = now();
  }

  async breathe(): Promise<void> {
    if (this.#now() - this.#startedAt < this.#sliceMs) return;
    await ownTurn();
    this.#startedAt = this.#now();
  }
}
