/** Has so many begin at once; the others wait for their turn, in order. */
export class Turns {
  readonly #most: number;
  #taken = 0;
  #isGoingOn = false;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Calls `begin` when there is a turn for it; the returned function ends the waiting for that, if there is any. */
  take(begin: () => void): (() => void) | undefined {
    if (this.#taken < this.#most && this.#waiting.size === 0) {
      this.#taken++;
      begin();
      return undefined;
    }
    this.#waiting.add(begin);
    this.#goOn();
    return () => this.#waiting.delete(begin);
  }

  /** Takes one at once, even if there is none left: what has begun does not wait again. */
  retake(): void {
    this.#taken++;
  }

  giveBack(): void {
    this.#taken--;
    this.#goOn();
  }

  /** One that is over as soon as it has begun does not begin the next one within itself. */
  #goOn(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    for (const begin of this.#waiting) {
      if (this.#taken >= this.#most) break;
      this.#waiting.delete(begin);
      this.#taken++;
      begin();
    }
    this.#isGoingOn = false;
  }
}
