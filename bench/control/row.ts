/** A line of the table. */
export interface Row {
  what: string;
  figure: string;
}

/** How many of something were done in a second, with what all threads spent on each of them where that is known. */
export function perSecond(what: string, count: number, { elapsedMs, spentMs }: Duration): Row {
  const spent = spentMs === undefined ? "" : `, ${(spentMs / count).toFixed(2)} ms of processor time each`;
  return { what, figure: `${((1000 * count) / elapsedMs).toFixed(0)} a second${spent}` };
}

export interface Duration {
  elapsedMs: number;
  spentMs?: number;
}

export async function timed(work: () => Promise<void> | void): Promise<Required<Duration>> {
  const begin = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs: performance.now() - begin, spentMs: (user + system) / 1000 };
}
