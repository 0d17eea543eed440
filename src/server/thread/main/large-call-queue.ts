/**
 * Maximum total size of large messages that are parsed or executed at the same time. A parsed message takes up several
 * times its size in memory.
 */
const LIMIT_BYTES = 64 * 1024 * 1024;

interface QueuedCall {
  bytes: number;
  start(): void;
}

/** Limits the total message size of the large calls that are running. Further calls wait in FIFO order. */
export class LargeCallQueue {
  readonly #limit: number;
  #bytes = 0;
  readonly #queue: QueuedCall[] = [];

  constructor(limit = LIMIT_BYTES) {
    this.#limit = limit;
  }

  /** A message larger than the limit runs alone. */
  async run(bytes: number, call: () => Promise<void>): Promise<void> {
    await new Promise<void>((start) => {
      this.#queue.push({ bytes, start });
      this.#startNext();
    });
    try {
      await call();
    } finally {
      this.#bytes -= bytes;
      this.#startNext();
    }
  }

  #startNext(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#bytes > 0 && this.#bytes + next.bytes > this.#limit) return;
      this.#queue.shift();
      this.#bytes += next.bytes;
      next.start();
    }
  }
}
