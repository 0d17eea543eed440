import { Failure } from "../../errors.ts";

/** One time limit for everything that one message asks for. */
export class Deadline {
  readonly #millis: number;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Set<(reason: Failure) => void>();
  #passed = false;

  constructor(millis: number) {
    this.#millis = millis;
    this.#timer = setTimeout(() => this.#pass(), millis);
  }

  get passed(): boolean {
    return this.#passed;
  }

  /** The result of the work, or a `Failure` once the time is over; a result that comes later goes to `tooLate`. */
  race<T>(work: Promise<T>, tooLate: (result: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      work.then(
        (result) => {
          if (this.#waiting.delete(reject)) resolve(result);
          else tooLate(result);
        },
        (error: unknown) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  failure(): Failure {
    return new Failure("server", `The call was not finished within ${this.#millis} milliseconds.`, {
      detail: "The node gave up waiting for it; a submission may still take effect.",
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #pass(): void {
    this.#passed = true;
    const reason = this.failure();
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }
}
