import { TimeSlice } from "../async/time-slice.ts";
import type { MethodResponse } from "../server/method-table.ts";

/** Size of the chunks in a streamed list. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Returns the JSON of a list whose elements are slow to write. Writing is time-sliced. If the list fits into one chunk,
 * it is returned as a buffer, and otherwise as a stream.
 */
export async function listBody<T>(
  elements: Iterable<T>,
  toJson: (element: T) => Buffer,
): Promise<MethodResponse["body"]> {
  const chunks = listChunks(elements, toJson);
  const first = await chunks.next();
  const second = await chunks.next();
  return second.done ? first.value! : joined(first.value!, second.value, chunks);
}

async function* joined(first: Buffer, second: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield second;
  yield* rest;
}

/** Yields at least one chunk. */
async function* listChunks<T>(
  elements: Iterable<T>,
  toJson: (element: T) => Buffer,
): AsyncGenerator<Buffer, undefined, undefined> {
  const slice = new TimeSlice();
  let separator = "[";
  let chunk: Buffer[] = [];
  let bytes = 0;
  for (const element of elements) {
    const json = toJson(element);
    chunk.push(Buffer.from(separator), json);
    bytes += json.length;
    separator = ",";
    await slice.yieldIfDue();
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(chunk);
    chunk = [];
    bytes = 0;
  }
  yield Buffer.concat([...chunk, Buffer.from(separator === "[" ? "[]" : "]")]);
}
