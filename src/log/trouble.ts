import type { LogFields, Logger } from "./logger.ts";

interface TroubleWords {
  begins: string;
  ends: string;
}

/** Something that may go wrong time after time: the log tells when that begins and when it ends. */
export class Trouble {
  readonly #logger: Logger;
  readonly #words: TroubleWords;
  #lasts = false;

  constructor(logger: Logger, words: TroubleWords) {
    this.#logger = logger;
    this.#words = words;
  }

  met(fields: LogFields): void {
    this.#logger[this.#lasts ? "debug" : "warn"](this.#words.begins, fields);
    this.#lasts = true;
  }

  isOver(fields: LogFields): void {
    if (this.#lasts) this.#logger.info(this.#words.ends, fields);
    this.#lasts = false;
  }
}
