interface Waiting {
  run: () => Promise<void>;
  /** Resolves the call without running it. Only set for calls that a newer call may replace. */
  supersede?: () => void;
}

/** Runs calls one after another in FIFO order: an execution client must receive payloads and heads in chain order. */
export class CallQueue {
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#enqueue(call);
  }

  /**
   * Replaces the last queued call if that call is replaceable as well. The replaced call resolves with `superseded`.
   */
  runNewest<T>(call: () => Promise<T>, superseded: T): Promise<T> {
    const last = this.#waiting.at(-1);
    if (last?.supersede) {
      this.#waiting.pop();
      last.supersede();
    }
    return this.#enqueue(call, superseded);
  }

  #enqueue<T>(call: () => Promise<T>, superseded?: T): Promise<T> {
    return new Promise((resolve, reject) => {
      const supersede = superseded === undefined ? undefined : () => resolve(superseded);
      this.#waiting.push({ run: () => call().then(resolve, reject), supersede });
      if (!this.#isRunning) void this.#work();
    });
  }

  /** Never rejects: failures are passed to the callers. */
  async #work(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await next.run();
    this.#isRunning = false;
  }
}
