/** Calls `goOn` between its steps, which throws when nobody waits for what it makes any more. */
export type Work<T> = (goOn: () => void) => Promise<T>;

/** Nobody waits any more, so that it is not made. */
class AbandonedError extends Error {}

/** Something that is being made, for all who ask for it meanwhile, and as long as one of them waits. */
export class SharedWork<T> {
  readonly #result: Promise<T>;
  readonly #onEnd: () => void;
  #waiting = 0;

  /** `onEnd` is called when nobody can join any more. */
  constructor(work: Work<T>, onEnd: () => void) {
    this.#onEnd = onEnd;
    // It begins in a later turn, when the first one waits.
    this.#result = Promise.resolve()
      .then(() => work(this.#goOn))
      .finally(onEnd);
    // Those who wait hear of a failure themselves; those who have left need not.
    this.#result.catch(() => {});
  }

  /** Rejects with the signal's reason for who does not wait any more when the work is given up. */
  async for(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting++;
    if (signal === undefined) return this.#result;
    const leave = () => {
      this.#waiting--;
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

  readonly #goOn = (): void => {
    if (this.#waiting > 0) return;
    this.#onEnd();
    throw new AbandonedError("Nobody waits for the result any more.");
  };
}

/** What is being made, by what it is asked for. */
export class SharedWorks<Key, T> {
  readonly #underway = new Map<Key, SharedWork<T>>();

  /** Joins the work under that key, or begins it. */
  share(key: Key, signal: AbortSignal | undefined, work: Work<T>): Promise<T> {
    let underway = this.#underway.get(key);
    if (underway === undefined) {
      const made = new SharedWork(work, () => {
        if (this.#underway.get(key) === made) this.#underway.delete(key);
      });
      this.#underway.set(key, made);
      underway = made;
    }
    return underway.for(signal);
  }

  /** Nobody joins any more what is under way. */
  clear(): void {
    this.#underway.clear();
  }
}
