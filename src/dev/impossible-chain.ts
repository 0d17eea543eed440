import { OperationalError } from "../errors/operational-error.ts";

/** A dev chain cannot be as somebody wants it. The message is a whole sentence that says what is wrong and what is right. */
export class ImpossibleChainError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "ImpossibleChainError";
  }
}
