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

/** A queue for each key, as long as something is in it. */
export class SerialQueues {
  readonly #queues = new Map<string, { queue: SerialQueue; tasks: number }>();

  async run<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new SerialQueue(), tasks: 0 };
    this.#queues.set(key, entry);
    entry.tasks++;
    try {
      return await entry.queue.run(task);
    } finally {
      entry.tasks--;
      if (entry.tasks === 0) this.#queues.delete(key);
    }
  }
}
