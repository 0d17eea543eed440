import { EthError } from "../eth-error.ts";

const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Limits the response size of traces. */
export class TraceSize {
  #characters = 0;

  /** Throws an `EthError` if the response exceeds the limit. */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= MAX_CHARACTERS) return;
    throw new EthError(
      "trace is larger than 64 MiB: set `limit`, `disableStack` or `disableStorage`, or use callTracer",
    );
  }
}
