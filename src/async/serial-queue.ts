/**
 * Runs tasks sequentially, in order. A failed task rejects only its own promise. All changes to the chain go through
 * one queue, so no task sees a partially applied block.
 */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T> | T): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all tasks queued so far have ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}

/** One queue per key, kept while it has tasks. */
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
