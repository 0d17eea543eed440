/**
 * The whole of a body that is no longer than `maxBytes`; of a longer one a stream, with what was read of it in front. A body that
 * breaks off rejects.
 */
export async function gather(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | AsyncIterable<Buffer>> {
  const chunks = body[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return read.length === 1 ? read[0]! : Buffer.concat(read, bytes);
    read.push(value);
    bytes += value.length;
    if (bytes > maxBytes) return continued(read, chunks);
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
