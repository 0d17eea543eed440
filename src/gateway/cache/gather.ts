import { keepBytes } from "../../json/buffer-pool.ts";
import type { ByteBudget } from "../../server/http/exchanges.ts";

interface GatherLimits {
  maxBytes: number;
  /** Of all bodies that are gathered at the same time. */
  budget: ByteBudget;
}

/**
 * The whole of a body within the limits; of a longer one a stream, with what was read of it in front. Rejects
 * when the body breaks off, or when nobody waits for it any more.
 */
export async function gather(
  body: AsyncIterable<Buffer>,
  { maxBytes, budget }: GatherLimits,
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
      read.push(keepBytes(value));
      bytes += value.length;
      if (bytes > maxBytes || !budget.take(value.length)) return continued(read, chunks);
      held += value.length;
    }
  } finally {
    budget.giveBack(held);
    signal.removeEventListener("abort", stop);
  }
}

/** Reads on where the iterator is; whoever stops early ends that, too. */
function continued(read: Buffer[], chunks: AsyncIterator<Buffer>): AsyncIterable<Buffer> & AsyncIterator<Buffer> {
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
