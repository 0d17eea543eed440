export interface BatchLimits {
  /** Maximum number of items per batch. */
  batchSize: number;
  /** How long items wait for a batch to fill up while another batch is running. */
  windowMs: number;
  maxRunning: number;
  /** Maximum number of waiting items. Above this number, the oldest item is dropped. */
  maxWaiting: number;
}

interface BatchWork<Item> {
  /** Must not throw. */
  process(items: Item[]): Promise<void>;
  /** Called for an item that will not be processed. */
  drop(item: Item): void;
}

/**
 * Collects items that are cheaper to process together. An idle queue processes items at once. Batches grow with the
 * load.
 */
export class BatchQueue<Item> {
  readonly #work: BatchWork<Item>;
  readonly #limits: BatchLimits;
  readonly #running = new Set<Promise<void>>();
  #waiting: Item[] = [];
  #soon: NodeJS.Immediate | undefined;
  #window: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(work: BatchWork<Item>, limits: BatchLimits) {
    this.#work = work;
    this.#limits = limits;
  }

  add(item: Item): void {
    if (this.#closed) {
      this.#work.drop(item);
      return;
    }
    this.#waiting.push(item);
    if (this.#waiting.length > this.#limits.maxWaiting) this.#work.drop(this.#waiting.shift()!);
    // Items from one network message end up in the same batch.
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#runFull();
    });
  }

  /** Drops the queued items and waits for running batches. */
  async close(): Promise<void> {
    this.#closed = true;
    clearImmediate(this.#soon);
    clearTimeout(this.#window);
    for (const item of this.#waiting.splice(0)) this.#work.drop(item);
    await Promise.all(this.#running);
  }

  #runFull(): void {
    const { batchSize, windowMs, maxRunning } = this.#limits;
    while (this.#waiting.length >= batchSize && this.#running.size < maxRunning) this.#run();
    if (this.#waiting.length > 0 && this.#running.size === 0) this.#run();
    if (this.#waiting.length === 0 || this.#closed) return;
    this.#window ??= setTimeout(() => {
      this.#window = undefined;
      if (this.#waiting.length > 0 && this.#running.size < maxRunning) this.#run();
      this.#runFull();
    }, windowMs);
  }

  #run(): void {
    const items = this.#waiting.splice(0, this.#limits.batchSize);
    const run = this.#work.process(items).finally(() => {
      this.#running.delete(run);
      if (!this.#closed) this.#runFull();
    });
    this.#running.add(run);
  }
}
