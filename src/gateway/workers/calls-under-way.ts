import type { CallTally } from "../../server/call-tallies.ts";

/** Knows which calls of a worker have begun and not ended, so that they do not count as under way for ever when it dies. */
export class CallsUnderWay {
  readonly #counts = new Map<string, Pick<CallTally, "server" | "method"> & { count: number }>();

  count(tallies: readonly CallTally[]): void {
    for (const { server, method, begun, seconds } of tallies) {
      const key = `${server} ${method ?? ""}`;
      const count = (this.#counts.get(key)?.count ?? 0) + begun - seconds.length;
      this.#counts.set(key, { server, method, count });
    }
  }

  /** What takes back those that will never end. */
  endAll(): CallTally[] {
    const left = [...this.#counts.values()].filter(({ count }) => count > 0);
    return left.map(({ server, method, count }) => ({
      server,
      method,
      begun: -count,
      seconds: [],
      errorCodes: [],
      bytes: 0,
    }));
  }
}
