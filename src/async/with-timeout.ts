import type { Timers } from "./timers.ts";

/** Rejects with an error if a response takes longer than `millis`. */
export async function withTimeout<T>(
  response: Promise<T>,
  millis: number,
  timers: Pick<Timers, "sleep">,
  timeoutError: () => Error,
): Promise<T> {
  const settled = new AbortController();
  const late = timers.sleep(millis, settled.signal).then(async () => {
    // If this process was busy, the response may already be in the socket. One more turn of the event loop lets the
    // socket be read first.
    await new Promise((resolve) => setImmediate(resolve));
    throw timeoutError();
  });
  try {
    return await Promise.race([response, late]);
  } finally {
    settled.abort();
  }
}
