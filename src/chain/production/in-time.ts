import type { Timers } from "../../async/timers.ts";

/** The answer, unless it comes too late: then it is not waited for any more, and the error is thrown instead. */
export async function inTime<T>(
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
