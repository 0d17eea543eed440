/**
 * A cancellable task. Between steps, the task calls `throwIfAborted`, which throws once every caller has aborted. A
 * task without steps uses `abortSignal` instead, which aborts when the last caller does.
 */
export type SharedTaskFunction<T> = (throwIfAborted: () => void, abortSignal: () => AbortSignal) => Promise<T>;

/** Thrown inside a task that has no callers left. The cause is the last caller's abort reason. */
class AbandonedError extends Error {
  constructor(cause?: unknown) {
    super("Every caller has aborted.", { cause });
  }
}

/** Runs a task once for any number of callers, and cancels it when the last caller aborts. */
export class SharedTask<T> {
  readonly #result: Promise<T>;
  readonly #onEnd: () => void;
  #callers = 0;
  #abortController: AbortController | undefined;

  /** Calls `onEnd` when the task settles or is cancelled, after which callers can no longer join. */
  constructor(task: SharedTaskFunction<T>, onEnd: () => void) {
    this.#onEnd = onEnd;
    // Deferred until the first caller has joined.
    this.#result = Promise.resolve()
      .then(() => task(this.#throwIfAborted, this.#abortSignal))
      .finally(onEnd);
    // Each caller handles the rejection itself. This handler covers callers that have left.
    this.#result.catch(() => {});
  }

  /** Returns the result. Rejects with the signal's reason if the task was cancelled. */
  async join(signal: AbortSignal | undefined): Promise<T> {
    this.#callers++;
    if (signal === undefined) return this.#result;
    const leave = () => {
      if (--this.#callers === 0 && this.#abortController) this.#abort(this.#abortController, signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    try {
      return await this.#result;
    } catch (error) {
      throw error instanceof AbandonedError ? signal.reason : error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  readonly #throwIfAborted = (): void => {
    if (this.#callers > 0) return;
    this.#onEnd();
    throw new AbandonedError();
  };

  readonly #abortSignal = (): AbortSignal => {
    this.#abortController ??= new AbortController();
    if (this.#callers === 0) this.#abort(this.#abortController);
    return this.#abortController.signal;
  };

  #abort(controller: AbortController, cause?: unknown): void {
    this.#onEnd();
    controller.abort(new AbandonedError(cause));
  }
}

/** Deduplicates concurrent tasks by key: callers with the same key share one task. */
export class SingleFlight<Key, T> {
  readonly #inFlight = new Map<Key, SharedTask<T>>();

  /** Joins the task in flight for the key, or starts one. */
  run(key: Key, signal: AbortSignal | undefined, task: SharedTaskFunction<T>): Promise<T> {
    let shared = this.#inFlight.get(key);
    if (shared === undefined) {
      const started = new SharedTask(task, () => {
        if (this.#inFlight.get(key) === started) this.#inFlight.delete(key);
      });
      this.#inFlight.set(key, started);
      shared = started;
    }
    return shared.join(signal);
  }

  /** Starts a new task for every later call. Tasks in flight continue for their callers. */
  clear(): void {
    this.#inFlight.clear();
  }
}
