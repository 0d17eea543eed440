import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** The fastest of so many is what the machine can do. */
const FIRST_MEASUREMENTS = 200;
/** Up to so many times what it can do the machine is calm. */
const CALM_RATIO = 1.25;

/**
 * How long the machine takes for the same piece of work on all its cores at once. The host of a virtual machine may let
 * others run on the same cores as hyper-threads, which makes everything up to twice as slow, for parts of a second or
 * for minutes; nothing in /proc tells of it.
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

  /** Of the slowest core, in milliseconds. */
  async measure(): Promise<number> {
    const answers = this.#threads.map((thread) => once(thread, "message"));
    for (const thread of this.#threads) thread.postMessage({});
    const millis = Math.max(...(await Promise.all(answers)).map(([answer]) => answer as number));
    this.#shortest = Math.min(this.#shortest, millis);
    return millis;
  }

  /** How many times longer than at best so far. */
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
