/** A block violates the rules. The message names the wrong field of the payload. */
export class InvalidBlockError extends Error {
  readonly field: string;

  constructor(field: string, reason: string) {
    super(`Invalid ${field}: ${reason}.`);
    this.name = "InvalidBlockError";
    this.field = field;
  }
}
