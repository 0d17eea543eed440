import { describe, expect, it } from "vitest";
import { BackOff } from "./back-off.ts";

/** How long after each of so many failures in a row one has to wait. */
function waits(backOff: BackOff, failures: number): number[] {
  let now = 0;
  return Array.from({ length: failures }, () => {
    backOff.fail("a", now);
    const failedAt = now;
    while (!backOff.isDue("a", now)) now += 500;
    return now - failedAt;
  });
}

describe("back-off", () => {
  it("doubles the wait up to its maximum and begins anew after a success", () => {
    const backOff = new BackOff({ firstMs: 1_000, maxMs: 10_000 });
    expect(backOff.isDue("a", 0)).toBe(true);
    expect(waits(backOff, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    backOff.succeed("a");
    expect(waits(backOff, 2)).toEqual([1_000, 2_000]);
  });

  it("makes everything due at once when it expires, but for what is barred", () => {
    const backOff = new BackOff({ firstMs: 60_000, maxMs: 60_000 });
    backOff.fail("failed", 0);
    backOff.postpone("postponed", 0, 60_000);
    backOff.bar("barred", 60_000);
    backOff.expire();
    expect(["failed", "postponed", "barred"].map((key) => backOff.isDue(key, 1))).toEqual([true, true, false]);
    expect(backOff.isDue("barred", 60_000)).toBe(true);
  });

  it("keeps to a later time that was set, through failures", () => {
    const backOff = new BackOff({ firstMs: 1_000, maxMs: 10_000 });
    backOff.postpone("a", 0, 5_000);
    backOff.fail("a", 0);
    expect(backOff.isDue("a", 4_999)).toBe(false);
    expect(backOff.isDue("a", 5_000)).toBe(true);
    expect(backOff.isDue("b", 0)).toBe(true);
  });

  it("lets who is in a hurry wait less after failures and for what was postponed, but not for what is barred", () => {
    const backOff = new BackOff({ firstMs: 60_000, maxMs: 60_000 });
    const dueFrom = (moment: number, patienceMs?: number) =>
      expect([moment - 1, moment].map((now) => backOff.isDue("a", now, patienceMs))).toEqual([false, true]);
    backOff.fail("a", 0);
    dueFrom(1_000, 1_000);
    backOff.postpone("a", 500, 80_000);
    dueFrom(1_500, 1_000);
    dueFrom(80_500);
    backOff.succeed("a");
    dueFrom(1_500, 1_000);
    dueFrom(80_500);
    backOff.bar("a", 90_000);
    backOff.succeed("a");
    dueFrom(90_000, 1_000);
    dueFrom(90_000);
  });

  it("forgets the oldest of too many", () => {
    const backOff = new BackOff({ firstMs: 1_000, maxMs: 1_000, maxEntries: 2 });
    for (const key of ["a", "b", "c"]) backOff.fail(key, 0);
    expect(["a", "b", "c"].filter((key) => backOff.isDue(key, 0))).toEqual(["a"]);
  });
});
