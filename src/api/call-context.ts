import type { Caller, Cancellation } from "../server/method-table.ts";
import type { CallContext } from "./definition.ts";

/** Creates the signal lazily, on first access. */
export class LazyCallContext implements CallContext {
  readonly caller: Caller | undefined;
  readonly #cancellation: Cancellation | undefined;

  constructor(caller: Caller | undefined, cancellation: Cancellation | undefined) {
    this.caller = caller;
    this.#cancellation = cancellation;
  }

  get signal(): AbortSignal | undefined {
    return this.#cancellation?.signal;
  }
}
