import { copyOutOfPool } from "../../json/buffer-pool.ts";
import type { ByteBudget } from "../../server/http/request/byte-budget.ts";

interface BufferLimits {
  maxBytes: number;
  /** Shared by all bodies that are being buffered. */
  budget: ByteBudget;
}

/**
 * Reads a body into one buffer. If it exceeds the limits, returns a stream that starts with the chunks read so far.
 * Rejects if the body breaks off or the signal is aborted.
 */
export async function bufferBody(
  body: AsyncIterable<Buffer>,
  { maxBytes, budget }: BufferLimits,
  signal: AbortSignal,
): Promise<Buffer | AsyncIterable<Buffer>> {
  const chunks = body[Symbol.asyncIterator]();
  const stop = () => void chunks.return?.();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const read: Buffer[] = [];
  let bytes = 0;
  let held = 0;
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      signal.throwIfAborted();
      if (done) return read.length === 1 ? read[0]! : Buffer.concat(read, bytes);
      read.push(copyOutOfPool(value));
      bytes += value.length;
      if (bytes > maxBytes || !budget.reserve(value.length)) return resumeStream(read, chunks);
      held += value.length;
    }
  } finally {
    budget.release(held);
    signal.removeEventListener("abort", stop);
  }
}

/** Replays the chunks read so far, then continues with the iterator. An early `return()` also ends the iterator. */
function resumeStream(read: Buffer[], chunks: AsyncIterator<Buffer>): AsyncIterable<Buffer> & AsyncIterator<Buffer> {
  let position = 0;
  const stream = {
    next: (): Promise<IteratorResult<Buffer>> => {
      const value = read[position++];
      return value === undefined ? chunks.next() : Promise.resolve({ done: false, value });
    },
    return: async (): Promise<IteratorResult<Buffer>> => {
      position = read.length;
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
