import type { Timers } from "../../async/timers.ts";

/** Awaits a promise with a timeout; throws the error after it. */
export async function withTimeout<T>(
  timers: Pick<Timers, "sleep">,
  ms: number,
  answer: Promise<T>,
  tooLate: () => Error,
): Promise<T> {
  const answered = new AbortController();
  const late = timers.sleep(ms, answered.signal).then(() => {
    throw tooLate();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
