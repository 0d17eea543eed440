import { overloaded } from "../errors/failure.ts";
import { SharedStream } from "../json/shared-stream.ts";
import type { Cost, Waiting } from "../server/method-table.ts";

export interface LaneLimits {
  /** How many calls of the lane are worked on at once. */
  running: number;
  /** How many more may wait for their turn. */
  waiting: number;
}

/** What calls that are not cheap have to keep to. */
export interface CallLimits {
  duty: LaneLimits;
  heavy: LaneLimits;
  /** How many large answers may be on their way to their readers at once, each of which keeps a state in memory. */
  streams: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = {
  duty: { running: 16, waiting: 1024 },
  heavy: { running: 4, waiting: 128 },
  streams: 64,
};

/**
 * Where calls wait for each other. What costs the node much is done a few at a time, what validators wait for is never
 * behind it, and what would have to wait behind too many others is refused at once.
 */
export class Lanes {
  readonly #duty: Lane;
  readonly #heavy: Lane;
  readonly #limits: CallLimits;
  #streams = 0;

  constructor(limits: CallLimits = DEFAULT_CALL_LIMITS) {
    this.#limits = limits;
    this.#duty = new Lane(limits.duty);
    this.#heavy = new Lane(limits.heavy);
  }

  /** Work of that cost, in its turn. Who does not wait for it any more when that comes is told so instead. */
  run<T>(cost: Cost, waiting: Waiting | undefined, work: () => Promise<T>): Promise<T> {
    if (cost === "cheap") return work();
    return (cost === "duty" ? this.#duty : this.#heavy).run(waiting, work);
  }

  /** The same stream, counted until it ends or is given up. One that another thread can read stays such a one. */
  stream(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    if (this.#streams >= this.#limits.streams) {
      throw overloaded(`${this.#streams} large answers are being read already; ask again when some of them are.`);
    }
    this.#streams++;
    const onEnd = () => {
      this.#streams--;
    };
    if (!(body instanceof SharedStream)) return counted(body, onEnd);
    body.onEnd(onEnd);
    return body;
  }

  /** By lane, for who watches the node. */
  get load(): Record<"duty" | "heavy", { running: number; waiting: number; refused: number }> & { streams: number } {
    return { duty: this.#duty.load, heavy: this.#heavy.load, streams: this.#streams };
  }
}

interface Waiter {
  begin(): void;
}

class Lane {
  readonly #limits: LaneLimits;
  readonly #waiting = new Set<Waiter>();
  #running = 0;
  #refused = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get load() {
    return { running: this.#running, waiting: this.#waiting.size, refused: this.#refused };
  }

  async run<T>(waiting: Waiting | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.running) await this.#turn(waiting?.signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** The one that has finished leaves its place to the first that waits. */
  #next(): void {
    const [first] = this.#waiting;
    if (first) first.begin();
    else this.#running--;
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.size >= this.#limits.waiting) {
      this.#refused++;
      return Promise.reject(
        overloaded(
          `The node is busy: ${this.#running} calls like this one are under way and ${this.#waiting.size} wait. Ask again later.`,
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        begin: () => {
          this.#waiting.delete(waiter);
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}

/** An iterator by hand, because a generator that was never begun does not hear that it is given up. */
function counted(body: AsyncIterable<Buffer>, onEnd: () => void): AsyncIterable<Buffer> {
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
