import { describe, expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

/** A clock that only the test advances. */
function handClock() {
  const clock = { milliseconds: 0, now: () => clock.milliseconds };
  return clock;
}

describe("TokenBucket", () => {
  it("grants its burst at once and its rate afterwards", () => {
    const clock = handClock();
    const bucket = new TokenBucket({ burst: 3, perSecond: 2 }, clock);

    expect([1, 2, 3, 4, 5].map(() => bucket.take(1))).toEqual([0, 0, 0, 500, 1000]);

    clock.milliseconds = 1000;
    expect(bucket.delayFor(1)).toBe(500);
    clock.milliseconds = 1_000_000;
    expect(bucket.isFull).toBe(true);
    expect(bucket.delayFor(3)).toBe(0);
  });

  it("grants more than its burst when full, and goes into debt", () => {
    const clock = handClock();
    const bucket = new TokenBucket({ burst: 10, perSecond: 10 }, clock);

    expect(bucket.take(30)).toBe(0);
    expect(bucket.delayFor(1)).toBe(2100);
  });
});
