import type { LogFields, Logger } from "./logger.ts";

interface AlarmMessages {
  raised: string;
  cleared: string;
}

/** Logs a warning when a problem starts and an info line when it ends. */
export class Alarm {
  readonly #logger: Logger;
  readonly #messages: AlarmMessages;
  #isRaised = false;

  constructor(logger: Logger, messages: AlarmMessages) {
    this.#logger = logger;
    this.#messages = messages;
  }

  /** Logs an occurrence of the problem: the first as a warning, repetitions at debug level. */
  raise(fields: LogFields): void {
    this.#logger[this.#isRaised ? "debug" : "warn"](this.#messages.raised, fields);
    this.#isRaised = true;
  }

  /** Logs the end of the problem, if there was one. */
  clear(fields: LogFields): void {
    if (this.#isRaised) this.#logger.info(this.#messages.cleared, fields);
    this.#isRaised = false;
  }

  /** Raises or clears the alarm when `isActive` changes. Repetitions are not logged. */
  update(isActive: boolean, fields: LogFields = {}): void {
    if (isActive === this.#isRaised) return;
    if (isActive) this.raise(fields);
    else this.clear(fields);
  }
}
