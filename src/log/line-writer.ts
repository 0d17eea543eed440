/** A destination with non-blocking writes. */
export interface ByteSink {
  /** Returns the number of bytes written, which may be zero if the write would block. Throws on other errors. */
  write(bytes: Uint8Array): number;
}

/** Buffer limit while the sink is blocked. */
const BUFFER_BYTES = 1024 * 1024;
const RETRY_MS = 50;
/** Flush timeout at process exit. */
const FLUSH_TIMEOUT_MS = 500;
const FLUSH_STEP_MS = 5;

/**
 * Writes records to a sink without blocking, so an unread log never stalls the node. Buffers bytes that the sink does
 * not accept. Beyond the buffer limit, records are dropped and counted.
 */
export class LineWriter {
  readonly #sink: ByteSink;
  readonly #onResumed: (dropped: number) => void;
  #buffer: Uint8Array[] = [];
  #bufferedBytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | undefined;

  /** Calls `onResumed` with the number of dropped records when the sink accepts data again. */
  constructor(sink: ByteSink, onResumed: (dropped: number) => void) {
    this.#sink = sink;
    this.#onResumed = onResumed;
  }

  write(record: string): void {
    const bytes = Buffer.from(record);
    if (this.#buffer.length > 0 && this.#bufferedBytes + bytes.length > BUFFER_BYTES) {
      this.#dropped++;
      return;
    }
    this.#buffer.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (this.#retry === undefined) this.#drain();
  }

  /** Writes the buffer synchronously before the process exits, up to a timeout. */
  flush(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + FLUSH_TIMEOUT_MS;
    this.#drain();
    while (this.#buffer.length > 0 && performance.now() < end) {
      Atomics.wait(pause, 0, 0, FLUSH_STEP_MS);
      this.#drain();
    }
  }

  #drain(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    let isWritable = false;
    for (let first = this.#buffer[0]; first !== undefined; first = this.#buffer[0]) {
      const writtenBytes = this.#tryWrite(first);
      if (writtenBytes === undefined) this.#dropped++;
      else isWritable = true;
      this.#bufferedBytes -= writtenBytes ?? first.length;
      if (writtenBytes !== undefined && writtenBytes < first.length) {
        this.#buffer[0] = first.subarray(writtenBytes);
        this.#retry = setTimeout(() => this.#drain(), RETRY_MS).unref();
        return;
      }
      this.#buffer.shift();
    }
    if (this.#dropped === 0 || !isWritable) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onResumed(dropped);
  }

  /** Writes as many bytes as the sink accepts. Returns undefined if the sink failed. */
  #tryWrite(bytes: Uint8Array): number | undefined {
    try {
      return this.#sink.write(bytes);
    } catch {
      return undefined;
    }
  }
}
