import type { Stream } from "@libp2p/interface";
import { StreamFailure, StreamTimeout } from "./stream-errors.ts";

/**
 * Writes, and waits until the stream has taken all of it, so that a slow reader never has more than one message waiting.
 * The library's own promise of a drained stream resolves only the first time, and at once ever after.
 */
export async function writeAll(stream: Stream, bytes: Uint8Array, timeoutMs: number): Promise<void> {
  try {
    stream.send(bytes);
  } catch (error) {
    throw new StreamFailure(error);
  }
  if (isDrained(stream)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      stream.removeEventListener("drain", look);
      stream.removeEventListener("idle", look);
      stream.removeEventListener("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    // The stream continues to write after its own listeners have run.
    const look = (): void => queueMicrotask(() => isDrained(stream) && settle());
    const onClose = (): void => settle(new StreamFailure());
    const timer = setTimeout(() => settle(new StreamTimeout("The other end took too long to read.")), timeoutMs);
    stream.addEventListener("drain", look);
    stream.addEventListener("idle", look);
    stream.addEventListener("close", onClose);
  });
}

/** Ends the writing side. */
export async function endWriting(stream: Stream, timeoutMs: number): Promise<void> {
  try {
    await stream.close({ signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new StreamFailure(error);
  }
}

/** Gives the other end some time to end the stream too, then resets what is left of it. */
export async function closeStream(stream: Stream, timeoutMs: number): Promise<void> {
  if (stream.status === "open" || stream.status === "closing") {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(
        () => stream.abort(new StreamTimeout("The other end did not end the stream.")),
        timeoutMs,
      );
      stream.addEventListener(
        "close",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}

function isDrained(stream: Stream): boolean {
  return stream.writeBufferLength === 0 && !stream.writableNeedsDrain;
}
