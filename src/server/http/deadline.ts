import { Failure, TimeLimitFailure } from "../../errors/failure.ts";
import { type AccessClass, isReadOnly } from "../access-class.ts";
import type { Cancellation } from "../method-table.ts";
import type { RequestTrace } from "../request-trace.ts";

/**
 * Creates deadlines that all have the same length. They expire in the order of creation, so a single timer is enough.
 */
export class DeadlineTimer {
  readonly #millis: number;
  readonly #running = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(millis: number) {
    this.#millis = millis;
  }

  /** Starts a deadline, which must be released with `end`. */
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
    // The timer may outlive the last deadline and must not keep the process alive.
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

interface Race {
  reject(reason: Failure): void;
  access: AccessClass;
}

/** Time limit for a message and all of its calls. Also aborted when the client disconnects. */
export class Deadline implements Cancellation {
  readonly at: number;
  /** Set if the request is traced or logged. */
  trace: RequestTrace | undefined = undefined;
  readonly #millis: number;
  /** Created on first use, because most calls are answered immediately. */
  #races: Race[] | undefined;
  #listeners: Set<(reason: Failure) => void> | undefined;
  #controller: AbortController | undefined;
  /** The reason why the deadline was aborted. */
  #abortReason: Failure | undefined;

  constructor(millis: number) {
    this.#millis = millis;
    this.at = performance.now() + millis;
  }

  /** The reason why the deadline was aborted, or undefined while it is active. */
  get abortReason(): Failure | undefined {
    return this.#abortReason;
  }

  /** Aborted together with the deadline. Created lazily, because most calls never need it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  onAbort(listener: (reason: Failure) => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }

  /**
   * Resolves with the result of `work`, or rejects with a `Failure` when the deadline expires. If the call has side
   * effects, the message warns that the work may still take effect. A late result is passed to `tooLate`.
   */
  race<T>(work: Promise<T>, tooLate: (result: T) => void, access: AccessClass = "read"): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const race = { reject, access };
      this.#races ??= [];
      this.#races.push(race);
      work.then(
        (result) => {
          if (this.#leave(race)) resolve(result);
          else tooLate(result);
        },
        (error: unknown) => {
          this.#leave(race);
          reject(error);
        },
      );
    });
  }

  /** Returns false if the race has already been rejected. */
  #leave(race: Race): boolean {
    const races = this.#races ?? [];
    const position = races.indexOf(race);
    if (position !== -1) races.splice(position, 1);
    return position !== -1;
  }

  /** Aborts the deadline because the client disconnected. */
  cancel(): void {
    this.#abort(new Failure("server", "The client disconnected before the response."));
  }

  /** Expires the deadline. Called by `DeadlineTimer`. */
  expire(): void {
    const message = `The call exceeded its time limit of ${this.#millis} ms.`;
    for (const { reject, access } of this.#races?.splice(0) ?? []) {
      const detail = isReadOnly(access) ? undefined : "It may still take effect.";
      reject(new TimeLimitFailure("server", message, { detail }));
    }
    this.#abort(new TimeLimitFailure("server", message));
  }

  #abort(reason: Failure): void {
    if (this.#abortReason) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners ?? []) listener(reason);
  }
}
