import { Semaphore } from "../async/semaphore.ts";
import { overloaded } from "../errors/failure.ts";
import type { Cancellation } from "./method-table.ts";

export interface LaneLimits {
  /** Maximum number of concurrent calls. */
  running: number;
  /** Maximum number of queued calls. */
  waiting: number;
}

export interface LaneLoad {
  running: number;
  waiting: number;
  rejected: number;
}

/** Limits the number of running and waiting calls. */
export class Lane {
  readonly #maxWaiting: number;
  readonly #slots: Semaphore;
  #rejected = 0;

  constructor({ running, waiting }: LaneLimits) {
    this.#slots = new Semaphore(running);
    this.#maxWaiting = waiting;
  }

  get load(): LaneLoad {
    return { running: this.#slots.active, waiting: this.#slots.waiting, rejected: this.#rejected };
  }

  /** True if no call is running. */
  get isIdle(): boolean {
    return this.#slots.active === 0;
  }

  async run<T>(cancellation: Cancellation | undefined, work: () => Promise<T>): Promise<T> {
    if (!this.#slots.tryAcquire()) await this.#waitForSlot(cancellation?.signal);
    try {
      return await work();
    } finally {
      this.#slots.release();
    }
  }

  async #waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { active, waiting } = this.#slots;
    if (waiting >= this.#maxWaiting) {
      this.#rejected++;
      throw overloaded(
        `The node is busy: ${active} calls of this cost are running and ${waiting} are queued. Retry later.`,
      );
    }
    await this.#slots.wait(signal);
  }
}
