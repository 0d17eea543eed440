export interface BatchLimits {
  /** How many items are worked on together. */
  batchSize: number;
  /** How long items wait for more to come while earlier ones are worked on. */
  windowMs: number;
  maxRunning: number;
  /** When more wait, the oldest are dropped. */
  maxWaiting: number;
}

interface BatchWork<Item> {
  /** Must not throw. */
  process(items: Item[]): Promise<void>;
  /** The item will not be processed. */
  drop(item: Item): void;
}

/**
 * Collects what comes one by one and is cheaper to work on together. Nothing waits while nothing is being worked on; the
 * more there is to do, the larger the batches.
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
    // Items that come together, in one envelope of the network, are worked on together.
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#runFull();
    });
  }

  /** Drops what waits and ends when nothing is being worked on. */
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
