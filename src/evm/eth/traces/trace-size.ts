import { EthError } from "../eth-error.ts";

const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Limits the size of a response with traces. */
export class TraceSize {
  #characters = 0;

  /** Throws an `EthError` if the response becomes too large. */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= MAX_CHARACTERS) return;
    throw new EthError(
      "trace is larger than 64 MiB: set `limit`, `disableStack` or `disableStorage`, or use callTracer",
    );
  }
}
