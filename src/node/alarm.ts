import type { LogFields, Logger } from "../log/logger.ts";

interface AlarmMessages {
  /** What is wrong, and what to look at. */
  raised: string;
  /** That it is not so any more. */
  cleared: string;
}

/** Warns when something goes wrong, once, and says so when it has recovered. */
export class Alarm {
  readonly #logger: Logger;
  readonly #messages: AlarmMessages;
  #isRaised = false;

  constructor(logger: Logger, messages: AlarmMessages) {
    this.#logger = logger;
    this.#messages = messages;
  }

  update(isWrong: boolean, fields: LogFields = {}): void {
    if (isWrong === this.#isRaised) return;
    this.#isRaised = isWrong;
    if (isWrong) this.#logger.warn(this.#messages.raised, fields);
    else this.#logger.info(this.#messages.cleared, fields);
  }
}
