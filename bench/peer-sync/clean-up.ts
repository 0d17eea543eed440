/** Runs the work, and afterwards whatever it has left to be done, the newest first, however it ended. */
export async function withCleanUp<T>(work: (whenDone: (end: () => Promise<void>) => void) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await work((end) => ends.push(end));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
