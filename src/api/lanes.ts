import { overloaded } from "../errors/failure.ts";
import { SharedStream } from "../json/shared-stream.ts";
import { Lane, type LaneLimits, type LaneLoad } from "../server/lane.ts";
import type { CallCost, Cancellation } from "../server/method-table.ts";

/** Concurrency limits for calls that are not cheap. */
export interface CallLimits {
  duty: LaneLimits;
  heavy: LaneLimits;
  /** These calls take turns on the thread for reads. */
  evm: LaneLimits;
  /** Maximum number of large responses that are being read. Each of them holds a state in memory. */
  streams: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = {
  duty: { running: 16, waiting: 1024 },
  heavy: { running: 4, waiting: 128 },
  evm: { running: 32, waiting: 8192 },
  streams: 64,
};

/**
 * Limits concurrency by cost. A few heavy calls run at a time, duties never wait behind them, and calls beyond the
 * queue limit are rejected.
 */
export class Lanes {
  readonly #duty: Lane;
  readonly #heavy: Lane;
  readonly #evm: Lane;
  readonly #limits: CallLimits;
  #streams = 0;

  constructor(limits: CallLimits = DEFAULT_CALL_LIMITS) {
    this.#limits = limits;
    this.#duty = new Lane(limits.duty);
    this.#heavy = new Lane(limits.heavy);
    this.#evm = new Lane(limits.evm);
  }

  /** Runs work once its lane has a free slot. Rejects if the work has been cancelled in the meantime. */
  run<T>(cost: CallCost, cancellation: Cancellation | undefined, work: () => Promise<T>): Promise<T> {
    if (cost === "cheap") return work();
    const lane = cost === "duty" ? this.#duty : cost === "evm" ? this.#evm : this.#heavy;
    return lane.run(cancellation, work);
  }

  /** Counts a stream until it ends or is closed. Returns a `SharedStream` unchanged. */
  stream(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    if (this.#streams >= this.#limits.streams) {
      throw overloaded(`The limit of ${this.#streams} large responses in progress is reached. Retry later.`);
    }
    this.#streams++;
    const onEnd = () => {
      this.#streams--;
    };
    if (!(body instanceof SharedStream)) return trackEnd(body, onEnd);
    body.onEnd(onEnd);
    return body;
  }

  /** The load of each lane, for metrics. */
  get load(): Record<"duty" | "heavy" | "evm", LaneLoad> & { streams: number } {
    return { duty: this.#duty.load, heavy: this.#heavy.load, evm: this.#evm.load, streams: this.#streams };
  }
}

/**
 * Calls `onEnd` once when the stream ends. Not a generator, because a generator that was never started ignores
 * `return`.
 */
function trackEnd(body: AsyncIterable<Buffer>, onEnd: () => void): AsyncIterable<Buffer> {
  const source = body[Symbol.asyncIterator]();
  let isOpen = true;
  const end = () => {
    if (isOpen) onEnd();
    isOpen = false;
  };
  const iterator: AsyncIterator<Buffer> = {
    async next() {
      try {
        const next = await source.next();
        if (next.done) end();
        return next;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      end();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
