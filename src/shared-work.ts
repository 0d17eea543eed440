/**
 * Calls `goOn` between its steps, which throws when nobody waits for what it makes any more. Work that cannot ask between steps
 * takes the signal of `abandoned`, which is aborted as soon as the last one leaves.
 */
export type Work<T> = (goOn: () => void, abandoned: () => AbortSignal) => Promise<T>;

/** Nobody waits any more, so that it is not made. */
class AbandonedError extends Error {}

const ABANDONED = "Nobody waits for the result any more.";

/** Something that is being made, for all who ask for it meanwhile, and as long as one of them waits. */
export class SharedWork<T> {
  readonly #result: Promise<T>;
  readonly #onEnd: () => void;
  #waiting = 0;
  #abandonment: AbortController | undefined;

  /** `onEnd` is called when nobody can join any more. */
  constructor(work: Work<T>, onEnd: () => void) {
    this.#onEnd = onEnd;
    // It begins in a later turn, when the first one waits.
    this.#result = Promise.resolve()
      .then(() => work(this.#goOn, this.#abandoned))
      .finally(onEnd);
    // Those who wait hear of a failure themselves; those who have left need not.
    this.#result.catch(() => {});
  }

  /** Rejects with the signal's reason for who does not wait any more when the work is given up. */
  async for(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting++;
    if (signal === undefined) return this.#result;
    const leave = () => {
      if (--this.#waiting === 0 && this.#abandonment) this.#abandon(this.#abandonment);
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
    throw new AbandonedError(ABANDONED);
  };

  readonly #abandoned = (): AbortSignal => {
    this.#abandonment ??= new AbortController();
    if (this.#waiting === 0) this.#abandon(this.#abandonment);
    return this.#abandonment.signal;
  };

  /** Whoever asks from now on cannot join what is being stopped. */
  #abandon(abandonment: AbortController): void {
    this.#onEnd();
    abandonment.abort(new AbandonedError(ABANDONED));
  }
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
