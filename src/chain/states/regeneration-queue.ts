/** How many regenerations of each kind may wait. Whoever sends more than that gets no answer. */
const DEFAULT_MAX_WAITING = 16;

/** What a state is asked for: the rules for a block come before those for votes. */
export type RegenerationKind = "block" | "vote";

/** Too many regenerations wait already. */
export class RegenerationQueueFullError extends Error {
  constructor(kind: RegenerationKind, waiting: number) {
    super(`${waiting} states are waited for already to judge a ${kind} of the network.`);
    this.name = "RegenerationQueueFullError";
  }
}

/**
 * The states that the network asks for. What a message costs is not to be decided by who sends it, so they are made one
 * at a time, few may wait, and none is begun while the chain itself is at work.
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
    const waiting = this.#waiting[kind];
    if (waiting.length >= this.#maxWaiting) {
      return Promise.reject(new RegenerationQueueFullError(kind, waiting.length));
    }
    return new Promise<T>((resolve, reject) => {
      waiting.push(() => Promise.resolve().then(regenerate).then(resolve, reject));
      // It never rejects: a failure is for whoever asked.
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
