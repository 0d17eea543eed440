import type { CallStats } from "../../server/call-stats.ts";

/** Tracks the pending calls of a worker, so that they can be subtracted from the metrics when it dies. */
export class PendingCalls {
  readonly #counts = new Map<string, Pick<CallStats, "server" | "method"> & { count: number }>();

  count(tallies: readonly CallStats[]): void {
    for (const { server, method, begun, seconds } of tallies) {
      const key = `${server} ${method ?? ""}`;
      const count = (this.#counts.get(key)?.count ?? 0) + begun - seconds.length;
      this.#counts.set(key, { server, method, count });
    }
  }

  /** Returns tallies that subtract all pending calls. */
  cancelAll(): CallStats[] {
    const pending = [...this.#counts.values()].filter(({ count }) => count > 0);
    return pending.map(({ server, method, count }) => ({
      server,
      method,
      begun: -count,
      seconds: [],
      errorCodes: [],
      bytes: 0,
    }));
  }
}
