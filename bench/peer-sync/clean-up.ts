/** Runs the work, then its clean-up functions in reverse order, also after an error. */
export async function withCleanUp<T>(work: (whenDone: (end: () => Promise<void>) => void) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await work((end) => ends.push(end));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
