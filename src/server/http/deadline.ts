import { Failure, TimeLimitFailure } from "../../errors/failure.ts";
import type { Cancellation } from "../method-table.ts";
import type { RequestTrace } from "../request-trace.ts";

/**
 * Creates deadlines of equal length and expires them. They expire in creation order, so a single timer serves all of
 * them.
 */
export class DeadlineTimer {
  readonly #millis: number;
  readonly #running = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(millis: number) {
    this.#millis = millis;
  }

  /** Starts a deadline. Release it with `end`. */
  begin(): Deadline {
    const deadline = new Deadline(this.#millis);
    this.#running.add(deadline);
    this.#timer ??= this.#startTimer(this.#millis);
    return deadline;
  }

  end(deadline: Deadline): void {
    this.#running.delete(deadline);
  }

  #startTimer(millis: number): NodeJS.Timeout {
    const timer = setTimeout(() => this.#expireOverdue(), millis);
    // The timer may outlive the last deadline; it must not keep the process alive.
    return timer.unref();
  }

  #expireOverdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const deadline of this.#running) {
      if (deadline.at > now) {
        this.#timer = this.#startTimer(Math.ceil(deadline.at - now));
        return;
      }
      this.#running.delete(deadline);
      deadline.expire();
    }
  }
}

/** Time limit of one message and all of its calls. Also aborted when the client disconnects. */
export class Deadline implements Cancellation {
  readonly at: number;
  /** Set if the request is traced or logged. */
  trace: RequestTrace | undefined = undefined;
  readonly #millis: number;
  /** Reject functions of pending races. */
  readonly #races: ((reason: Failure) => void)[] = [];
  readonly #listeners = new Set<(reason: Failure) => void>();
  #controller: AbortController | undefined;
  /** Why the deadline was aborted. */
  #abortReason: Failure | undefined;

  constructor(millis: number) {
    this.#millis = millis;
    this.at = performance.now() + millis;
  }

  /** Why the deadline was aborted; undefined while the caller still waits. */
  get abortReason(): Failure | undefined {
    return this.#abortReason;
  }

  /** Aborted with the deadline. Created lazily, because most calls never need it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  onAbort(listener: (reason: Failure) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves with the result of `work`, or rejects with a `Failure` on expiry. A result after expiry is passed to
   * `tooLate`.
   */
  race<T>(work: Promise<T>, tooLate: (result: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#races.push(reject);
      work.then(
        (result) => {
          if (this.#leaveRace(reject)) resolve(result);
          else tooLate(result);
        },
        (error: unknown) => {
          this.#leaveRace(reject);
          reject(error);
        },
      );
    });
  }

  /** Returns false if the race was rejected already. */
  #leaveRace(reject: (reason: Failure) => void): boolean {
    const position = this.#races.indexOf(reject);
    if (position !== -1) this.#races.splice(position, 1);
    return position !== -1;
  }

  /** Aborts because the client disconnected. */
  cancel(): void {
    this.#abort(new Failure("server", "The client disconnected before the response."));
  }

  /** Expires the deadline. Called by `DeadlineTimer`. */
  expire(): void {
    const reason = new TimeLimitFailure("server", `The call exceeded its time limit of ${this.#millis} ms.`, {
      detail: "A submission may still take effect.",
    });
    for (const reject of this.#races.splice(0)) reject(reason);
    this.#abort(reason);
  }

  #abort(reason: Failure): void {
    if (this.#abortReason) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener(reason);
  }
}
