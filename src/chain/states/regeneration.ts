import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";

type State = CachedBeaconStateAllForks;

/** Calls `goOn` between its steps, which throws when nobody waits for the state any more. */
export type RegenerationWork = (goOn: () => void) => Promise<State>;

/** Nobody waits for the state any more, so that it is not made. */
class AbandonedError extends Error {}

/** A state that is being made, for all who ask for it meanwhile, and as long as one of them waits. */
export class Regeneration {
  readonly #state: Promise<State>;
  readonly #onEnd: () => void;
  #waiting = 0;

  /** `onEnd` is called when nobody can join any more. */
  constructor(work: RegenerationWork, onEnd: () => void) {
    this.#onEnd = onEnd;
    // It begins in a later turn, when the first one waits.
    this.#state = Promise.resolve()
      .then(() => work(this.#goOn))
      .finally(onEnd);
    // Those who wait hear of a failure themselves; those who have left need not.
    this.#state.catch(() => {});
  }

  /** Rejects with the signal's reason for who does not wait any more when the state is given up. */
  async for(signal: AbortSignal | undefined): Promise<State> {
    this.#waiting++;
    if (signal === undefined) return this.#state;
    const leave = () => {
      this.#waiting--;
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    try {
      return await this.#state;
    } catch (error) {
      throw error instanceof AbandonedError ? signal.reason : error;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  readonly #goOn = (): void => {
    if (this.#waiting > 0) return;
    this.#onEnd();
    throw new AbandonedError("Nobody waits for the state any more.");
  };
}
