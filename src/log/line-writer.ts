/** Takes bytes as far as it can now. */
export interface ByteSink {
  /** Returns how many it took, which may be none; throws when it cannot take any for a reason other than time. */
  write(bytes: Uint8Array): number;
}

/** What may wait for a sink that takes nothing. */
const LIMIT_BYTES = 1024 * 1024;
const RETRY_MS = 50;
/** How long the end of the process waits for what was not taken yet. */
const FLUSH_LIMIT_MS = 500;
const FLUSH_STEP_MS = 5;

/**
 * Writes records to a sink without ever waiting for it: whoever runs a node may have stopped reading its log. What the sink
 * does not take waits, up to a limit; beyond it records are dropped and counted.
 */
export class LineWriter {
  readonly #sink: ByteSink;
  readonly #onResumed: (dropped: number) => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | undefined;

  /** `onResumed` is told, when the sink takes something again, how many records were dropped meanwhile. */
  constructor(sink: ByteSink, onResumed: (dropped: number) => void) {
    this.#sink = sink;
    this.#onResumed = onResumed;
  }

  write(record: string): void {
    const bytes = Buffer.from(record);
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes.length > LIMIT_BYTES) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#retry === undefined) this.#drain();
  }

  /** Gives what waits a last chance, before the process ends. */
  flush(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + FLUSH_LIMIT_MS;
    this.#drain();
    while (this.#waiting.length > 0 && performance.now() < end) {
      Atomics.wait(pause, 0, 0, FLUSH_STEP_MS);
      this.#drain();
    }
  }

  #drain(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    let isTaking = false;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const taken = this.#offer(first);
      if (taken === undefined) this.#dropped++;
      else isTaking = true;
      this.#waitingBytes -= taken ?? first.length;
      if (taken !== undefined && taken < first.length) {
        this.#waiting[0] = first.subarray(taken);
        this.#retry = setTimeout(() => this.#drain(), RETRY_MS).unref();
        return;
      }
      this.#waiting.shift();
    }
    if (this.#dropped === 0 || !isTaking) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onResumed(dropped);
  }

  /** Undefined when the sink failed. */
  #offer(bytes: Uint8Array): number | undefined {
    try {
      return this.#sink.write(bytes);
    } catch {
      return undefined;
    }
  }
}
