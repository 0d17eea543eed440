import { describe, expect, it } from "vitest";
import { DialBackoff } from "./dial-backoff.ts";

/** Returns the delay after each of several consecutive failures. */
function waits(backoff: DialBackoff, failures: number): number[] {
  let now = 0;
  return Array.from({ length: failures }, () => {
    backoff.fail("a", now);
    const failedAt = now;
    while (!backoff.isDue("a", now)) now += 500;
    return now - failedAt;
  });
}

describe("DialBackoff", () => {
  it("doubles the delay up to its maximum and resets after a success", () => {
    const backoff = new DialBackoff({ firstMs: 1_000, maxMs: 10_000 });
    expect(backoff.isDue("a", 0)).toBe(true);
    expect(waits(backoff, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    backoff.succeed("a");
    expect(waits(backoff, 2)).toEqual([1_000, 2_000]);
  });

  it("makes everything due except blocked keys on expire", () => {
    const backoff = new DialBackoff({ firstMs: 60_000, maxMs: 60_000 });
    backoff.fail("failed", 0);
    backoff.postpone("postponed", 0, 60_000);
    backoff.block("barred", 60_000);
    backoff.expire();
    expect(["failed", "postponed", "barred"].map((key) => backoff.isDue(key, 1))).toEqual([true, true, false]);
    expect(backoff.isDue("barred", 60_000)).toBe(true);
  });

  it("keeps a postponement through failures", () => {
    const backoff = new DialBackoff({ firstMs: 1_000, maxMs: 10_000 });
    backoff.postpone("a", 0, 5_000);
    backoff.fail("a", 0);
    expect(backoff.isDue("a", 4_999)).toBe(false);
    expect(backoff.isDue("a", 5_000)).toBe(true);
    expect(backoff.isDue("b", 0)).toBe(true);
  });

  it("shortens the wait of urgent retries, except for blocked keys", () => {
    const backoff = new DialBackoff({ firstMs: 60_000, maxMs: 60_000 });
    const dueFrom = (moment: number, patienceMs?: number) =>
      expect([moment - 1, moment].map((now) => backoff.isDue("a", now, patienceMs))).toEqual([false, true]);
    backoff.fail("a", 0);
    dueFrom(1_000, 1_000);
    backoff.postpone("a", 500, 80_000);
    dueFrom(1_500, 1_000);
    dueFrom(80_500);
    backoff.succeed("a");
    dueFrom(1_500, 1_000);
    dueFrom(80_500);
    backoff.block("a", 90_000);
    backoff.succeed("a");
    dueFrom(90_000, 1_000);
    dueFrom(90_000);
  });

  it("evicts the oldest key", () => {
    const backoff = new DialBackoff({ firstMs: 1_000, maxMs: 1_000, maxEntries: 2 });
    for (const key of ["a", "b", "c"]) backoff.fail(key, 0);
    expect(["a", "b", "c"].filter((key) => backoff.isDue(key, 0))).toEqual(["a"]);
  });
});
