/**
 * Runs tasks one after the other, in the order they were asked for. A task that fails fails only its own caller.
 * Everything that changes the chain goes through one such queue, so no step ever sees a half-applied block.
 */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
