import { TimeSlice, yieldToEventLoop } from "../async/time-slice.ts";
import { giveBackBuffer, takeBuffer } from "./buffer-pool.ts";
import { ByteWriter } from "./byte-writer.ts";

/** What a writer of a stream has room for when it begins and whenever it is resumed. */
export const ROOM_BYTES = 4096;

/**
 * Writes what its input stands for, and yields when there might be too little room for what comes next, and now and then
 * while it writes little: whoever runs it then takes what is written, or lets others have a turn.
 */
export type StreamWriter<Input> = (input: Input, out: ByteWriter) => Generator<void, void, void>;

/**
 * What a writer writes, a buffer in each turn of the event loop: an answer of any size delays nobody. Whoever has no more use
 * for a buffer can give it back to the pool that it is from.
 */
export async function* writtenBuffers<Input>(
  write: StreamWriter<Input>,
  input: Input,
): AsyncGenerator<Buffer, void, undefined> {
  const out = new ByteWriter(Buffer.alloc(0));
  const steps = write(input, out);
  for (let isDone = false; !isDone; ) {
    await yieldToEventLoop();
    const slice = new TimeSlice();
    out.continueIn(takeBuffer());
    while (!isDone && out.room >= ROOM_BYTES) {
      isDone = steps.next().done === true;
      if (!isDone) await slice.yieldIfDue();
    }
    if (out.at > 0) yield out.written;
    else giveBackBuffer(out.bytes);
  }
}
