import { OperationalError } from "../errors/operational-error.ts";

/** Invalid settings for a new dev chain. The message says what is wrong and how to fix it. */
export class InvalidChainError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "InvalidChainError";
  }
}
