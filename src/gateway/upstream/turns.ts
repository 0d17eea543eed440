/** Has so many begin at once; the others wait for their turn, in order. */
export class Turns {
  readonly #most: number;
  #taken = 0;
  #isGoingOn = false;
  readonly #waiting: (() => boolean)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Calls `begin` when there is a turn for it, which is given back at once when it returns false. */
  take(begin: () => boolean): void {
    this.#waiting.push(begin);
    this.#goOn();
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
    while (this.#taken < this.#most) {
      const begin = this.#waiting.shift();
      if (begin === undefined) break;
      this.#taken++;
      if (!begin()) this.#taken--;
    }
    this.#isGoingOn = false;
  }
}
