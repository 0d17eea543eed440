import { setImmediate } from "node:timers";
import { TurnShare } from "../../turn-share.ts";

/** Who has messages waiting: is called when one more of them may be worked on. */
type GoOn = () => void;

/**
 * How many messages are worked on that clients have sent ahead of their answers, of all connections together, and how many of all are begun
 * with in a turn of the event loop. The next one is that of the connection whose last one is longest ago.
 */
export class MessageLine {
  readonly #limit: number;
  readonly #waiting = new Set<GoOn>();
  #running = 0;
  readonly #share = new TurnShare();
  /** Who had no time left in this turn. */
  readonly #late = new Set<GoOn>();
  #isGoingOn = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether there is time for one in this turn. If not, `goOn` is called in one of the next. */
  hasTime(goOn: GoOn): boolean {
    if (!this.#share.isOver) return true;
    this.#late.add(goOn);
    if (!this.#isGoingOn) {
      this.#isGoingOn = true;
      setImmediate(this.#goOnLate);
    }
    return false;
  }

  /** Whether there is room for one. If not, `goOn` is called when there is. */
  enter(goOn: GoOn): boolean {
    if (this.#running >= this.#limit) {
      this.#waiting.add(goOn);
      return false;
    }
    this.#running++;
    return true;
  }

  /** To be called when one that has entered is answered. */
  leave(): void {
    this.#running--;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }

  /** It has nothing waiting any more. */
  forget(goOn: GoOn): void {
    this.#waiting.delete(goOn);
    this.#late.delete(goOn);
  }

  /** Stops at the first for whom there is no time: to ask on behalf of all the others would take long. */
  readonly #goOnLate = (): void => {
    const [next] = this.#late;
    if (next === undefined) {
      this.#isGoingOn = false;
    } else if (this.#share.isOver) {
      setImmediate(this.#goOnLate);
    } else {
      this.#late.delete(next);
      next();
      // Behind what it has set off, which takes most of its time.
      queueMicrotask(this.#goOnLate);
    }
  };
}
