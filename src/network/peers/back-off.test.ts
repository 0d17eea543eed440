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

  it("keeps to a later time that was set, through failures", () => {
    const backOff = new BackOff({ firstMs: 1_000, maxMs: 10_000 });
    backOff.postpone("a", 5_000);
    backOff.fail("a", 0);
    expect(backOff.isDue("a", 4_999)).toBe(false);
    expect(backOff.isDue("a", 5_000)).toBe(true);
    expect(backOff.isDue("b", 0)).toBe(true);
  });

  it("lets who is in a hurry wait less after failures, but not for what was postponed", () => {
    const backOff = new BackOff({ firstMs: 60_000, maxMs: 60_000 });
    backOff.fail("a", 0);
    expect([999, 1_000].map((now) => backOff.isDue("a", now, 1_000))).toEqual([false, true]);
    backOff.postpone("a", 30_000);
    expect([29_999, 30_000].map((now) => backOff.isDue("a", now, 1_000))).toEqual([false, true]);
    backOff.succeed("a");
    expect([29_999, 30_000].map((now) => backOff.isDue("a", now))).toEqual([false, true]);
  });

  it("forgets the oldest of too many", () => {
    const backOff = new BackOff({ firstMs: 1_000, maxMs: 1_000, maxEntries: 2 });
    for (const key of ["a", "b", "c"]) backOff.fail(key, 0);
    expect(["a", "b", "c"].filter((key) => backOff.isDue(key, 0))).toEqual(["a"]);
  });
});
