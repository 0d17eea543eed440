/** A block breaks the rules. Says which field is wrong, by its name in the payload. */
export class InvalidBlockError extends Error {
  readonly field: string;

  constructor(field: string, reason: string) {
    super(`Invalid ${field}: ${reason}.`);
    this.name = "InvalidBlockError";
    this.field = field;
  }
}
