import { TimeSlice, yieldToEventLoop } from "../async/time-slice.ts";
import { acquireBuffer, releaseBuffer } from "./buffer-pool.ts";
import { ByteWriter } from "./byte-writer.ts";

/** Minimum free space in the buffer when a writer starts and after each `yield`. */
export const MIN_ROOM_BYTES = 4096;

/**
 * Writes its input incrementally. Yields when less than `MIN_ROOM_BYTES` is left, and periodically, so that the caller
 * can swap the buffer or yield to the event loop.
 */
export type StreamWriter<Input> = (input: Input, out: ByteWriter) => Generator<void, void, void>;

/**
 * Streams a writer's output as pooled buffers, at most one per turn of the event loop. The consumer may return each
 * buffer to the pool with `releaseBuffer`.
 */
export async function* streamBuffers<Input>(
  write: StreamWriter<Input>,
  input: Input,
): AsyncGenerator<Buffer, void, undefined> {
  const out = new ByteWriter(Buffer.alloc(0));
  const steps = write(input, out);
  for (let isDone = false; !isDone; ) {
    await yieldToEventLoop();
    const slice = new TimeSlice();
    out.continueIn(acquireBuffer());
    while (!isDone && out.room >= MIN_ROOM_BYTES) {
      isDone = steps.next().done === true;
      if (!isDone) await slice.yieldIfDue();
    }
    if (out.at > 0) yield out.written;
    else releaseBuffer(out.bytes);
  }
}
