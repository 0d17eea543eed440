interface Waiting {
  run: () => Promise<void>;
  /** Ends it without being run; only for what a newer one of its kind makes needless. */
  supersede?: () => void;
}

/**
 * Runs calls one after the other, in the order they were asked for: an execution client has to hear of payloads and of heads in the
 * order in which the chain went through them.
 */
export class CallQueue {
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#enqueue(call);
  }

  /** Takes the place of the call before it if that is replaceable, too, and still waits; whoever asked for that one gets `superseded`. */
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

  /** Never rejects: what fails is told to whoever asked for it. */
  async #work(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await next.run();
    this.#isRunning = false;
  }
}
