/** Who has messages waiting: is called when one more of them may be worked on. */
type GoOn = () => void;

/**
 * How many messages are worked on that clients have sent ahead of their answers, of all connections together. The next one is that
 * of the connection whose last one is longest ago.
 */
export class MessageLine {
  readonly #limit: number;
  readonly #waiting = new Set<GoOn>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
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
  }
}
