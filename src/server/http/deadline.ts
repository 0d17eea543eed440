import { Failure } from "../../errors/failure.ts";

/**
 * Time limits of one length. They pass in the order in which they began, so one timer serves all of them: a timer for every
 * message would cost more than many a call.
 */
export class Deadlines {
  readonly #millis: number;
  readonly #running = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(millis: number) {
    this.#millis = millis;
  }

  /** The limit must be ended with `end`. */
  begin(): Deadline {
    const deadline = new Deadline(this.#millis);
    this.#running.add(deadline);
    this.#timer ??= this.#wakeIn(this.#millis);
    return deadline;
  }

  end(deadline: Deadline): void {
    this.#running.delete(deadline);
  }

  #wakeIn(millis: number): NodeJS.Timeout {
    const timer = setTimeout(() => this.#passOverdue(), millis);
    // It is left running when the last limit has ended, which must not keep a process alive.
    return timer.unref();
  }

  #passOverdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const deadline of this.#running) {
      if (deadline.at > now) {
        this.#timer = this.#wakeIn(Math.ceil(deadline.at - now));
        return;
      }
      this.#running.delete(deadline);
      deadline.pass();
    }
  }
}

/** One time limit for everything that one message asks for. It also ends when its client leaves. */
export class Deadline {
  readonly at: number;
  readonly #millis: number;
  /** Few at a time. */
  readonly #waiting: ((reason: Failure) => void)[] = [];
  readonly #listeners = new Set<(reason: Failure) => void>();
  #controller: AbortController | undefined;
  /** Why nobody waits any more. */
  #over: Failure | undefined;

  constructor(millis: number) {
    this.#millis = millis;
    this.at = performance.now() + millis;
  }

  /** Undefined as long as somebody waits. */
  get over(): Failure | undefined {
    return this.#over;
  }

  /** Aborted when nobody waits any more. It is made for who asks for it, since most calls end before they could. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#over);
    }
    return this.#controller.signal;
  }

  onOver(listener: (reason: Failure) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The result of the work, or a `Failure` once the time is over; a result that comes later goes to `tooLate`. */
  race<T>(work: Promise<T>, tooLate: (result: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(reject);
      work.then(
        (result) => {
          if (this.#stopWaiting(reject)) resolve(result);
          else tooLate(result);
        },
        (error: unknown) => {
          this.#stopWaiting(reject);
          reject(error);
        },
      );
    });
  }

  /** False for who was told already that the time is over. */
  #stopWaiting(reject: (reason: Failure) => void): boolean {
    const position = this.#waiting.indexOf(reject);
    if (position !== -1) this.#waiting.splice(position, 1);
    return position !== -1;
  }

  /** The client is gone: what has not begun for it need not, and what has may stop. */
  abandon(): void {
    this.#end(new Failure("server", "The client has left before it was answered."));
  }

  /** Only for who keeps the time. */
  pass(): void {
    const reason = new Failure("server", `The call was not finished within ${this.#millis} milliseconds.`, {
      detail: "The node gave up waiting for it; a submission may still take effect.",
    });
    for (const reject of this.#waiting.splice(0)) reject(reason);
    this.#end(reason);
  }

  #end(reason: Failure): void {
    if (this.#over) return;
    this.#over = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener(reason);
  }
}
