import { setImmediate } from "node:timers/promises";

const SLICE_MS = 15;

/** Lets long synchronous work, such as thousands of signatures, give way to everything else the process has to do. */
export class TimeSlice {
  #startedAt = performance.now();

  async breathe(): Promise<void> {
    if (performance.now() - this.#startedAt < SLICE_MS) return;
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
