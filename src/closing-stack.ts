type Closer = () => unknown;

/** What has been opened and is to be closed in reverse order: the part of AsyncDisposableStack, which Node 22 lacks, that is needed. */
export class ClosingStack implements AsyncDisposable {
  readonly #closers: Closer[];

  constructor(closers: Closer[] = []) {
    this.#closers = closers;
  }

  defer(close: Closer): void {
    this.#closers.push(close);
  }

  /** Hands over all that is to be closed: this stack closes nothing any more. */
  move(): ClosingStack {
    return new ClosingStack(this.#closers.splice(0));
  }

  /** Closes everything, also when something before it cannot be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, "Several parts could not be closed.");
    if (errors.length === 1) throw errors[0];
  }
}
