/** Maximum queue length per kind. Further requests are rejected. */
const DEFAULT_MAX_WAITING = 16;

/** Purpose of a regeneration. Blocks take priority over votes. */
export type RegenerationKind = "block" | "vote";

/** Thrown if the regeneration queue is full. */
export class RegenerationQueueFullError extends Error {
  constructor(kind: RegenerationKind, waiting: number) {
    super(`State regeneration queue full: ${waiting} requests for a ${kind} are waiting.`);
    this.name = "RegenerationQueueFullError";
  }
}

/**
 * Queue of state regenerations for gossip validation. Bounds the cost that messages can cause: regenerations run one at
 * a time and only while the chain is idle, and the queues are short.
 */
export class RegenerationQueue {
  readonly #untilChainIdle: () => Promise<void>;
  readonly #maxWaiting: number;
  readonly #waiting: Record<RegenerationKind, (() => Promise<void>)[]> = { block: [], vote: [] };
  #isRunning = false;

  constructor(untilChainIdle: () => Promise<void>, maxWaiting = DEFAULT_MAX_WAITING) {
    this.#untilChainIdle = untilChainIdle;
    this.#maxWaiting = maxWaiting;
  }

  run<T>(kind: RegenerationKind, regenerate: () => Promise<T>): Promise<T> {
    const queue = this.#waiting[kind];
    if (queue.length >= this.#maxWaiting) {
      return Promise.reject(new RegenerationQueueFullError(kind, queue.length));
    }
    return new Promise<T>((resolve, reject) => {
      queue.push(() => Promise.resolve().then(regenerate).then(resolve, reject));
      // Never rejects: the caller's promise gets the error.
      void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { block, vote } = this.#waiting;
    while (block.length + vote.length > 0) {
      await this.#untilChainIdle();
      await (block.shift() ?? vote.shift())?.();
    }
    this.#isRunning = false;
  }
}
