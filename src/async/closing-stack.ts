type Closer = () => unknown;

/** Closes resources in reverse order of opening. A subset of `AsyncDisposableStack`, which Node 22 lacks. */
export class ClosingStack implements AsyncDisposable {
  readonly #closers: Closer[];

  constructor(closers: Closer[] = []) {
    this.#closers = closers;
  }

  defer(close: Closer): void {
    this.#closers.push(close);
  }

  /** Moves all deferred closers to a new stack and leaves this one empty. */
  move(): ClosingStack {
    return new ClosingStack(this.#closers.splice(0));
  }

  /** Runs every closer, even after one fails. Throws the error, or an `AggregateError` if there are several. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, "Several parts failed to close.");
    if (errors.length === 1) throw errors[0];
  }
}
