export interface Row {
  what: string;
  figure: string;
}

/** Formats a rate in slots per second, and the CPU time per slot of all threads if it is known. */
export function perSecond(what: string, count: number, { elapsedMs, spentMs }: Duration): Row {
  const spent = spentMs === undefined ? "" : `, ${(spentMs / count).toFixed(2)} ms CPU each`;
  return { what, figure: `${((1000 * count) / elapsedMs).toFixed(0)} slots/s${spent}` };
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
