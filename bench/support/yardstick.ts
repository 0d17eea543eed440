import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** Measurements that determine the best time of the machine. */
const FIRST_MEASUREMENTS = 200;
/** Maximum ratio to the best time on a calm machine. */
const CALM_RATIO = 1.25;

/**
 * Measures the speed of the machine with fixed work on all cores at once. On a virtual machine, other guests may share
 * the cores through hyper-threading. This slows everything down by up to half, and /proc does not show it.
 */
export class Yardstick {
  readonly #threads: readonly Worker[];
  #shortest = Number.POSITIVE_INFINITY;

  static async start(): Promise<Yardstick> {
    const yardstick = new Yardstick();
    for (let measured = 0; measured < FIRST_MEASUREMENTS; measured++) await yardstick.measure();
    return yardstick;
  }

  private constructor() {
    const file = new URL("./yardstick-thread.ts", import.meta.url);
    this.#threads = Array.from({ length: availableParallelism() }, () => new Worker(file));
  }

  /** Returns the time of the slowest core in milliseconds. */
  async measure(): Promise<number> {
    const answers = this.#threads.map((thread) => once(thread, "message"));
    for (const thread of this.#threads) thread.postMessage({});
    const millis = Math.max(...(await Promise.all(answers)).map(([answer]) => answer as number));
    this.#shortest = Math.min(this.#shortest, millis);
    return millis;
  }

  /** Returns the ratio to the best time so far. */
  ratio(millis: number): number {
    return millis / this.#shortest;
  }

  isCalm(millis: number): boolean {
    return this.ratio(millis) <= CALM_RATIO;
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}
