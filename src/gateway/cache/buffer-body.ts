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
  const buffered: Buffer[] = [];
  let bytes = 0;
  let reservedBytes = 0;
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      signal.throwIfAborted();
      if (done) return buffered.length === 1 ? buffered[0]! : Buffer.concat(buffered, bytes);
      buffered.push(copyOutOfPool(value));
      bytes += value.length;
      if (bytes > maxBytes || !budget.reserve(value.length)) return resumeStream(buffered, chunks);
      reservedBytes += value.length;
    }
  } finally {
    budget.release(reservedBytes);
    signal.removeEventListener("abort", stop);
  }
}

/** Replays the chunks read so far, then continues with the iterator. An early `return()` also ends the iterator. */
function resumeStream(
  buffered: Buffer[],
  chunks: AsyncIterator<Buffer>,
): AsyncIterable<Buffer> & AsyncIterator<Buffer> {
  let position = 0;
  const stream = {
    next: (): Promise<IteratorResult<Buffer>> => {
      const value = buffered[position++];
      return value === undefined ? chunks.next() : Promise.resolve({ done: false, value });
    },
    return: async (): Promise<IteratorResult<Buffer>> => {
      position = buffered.length;
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}
