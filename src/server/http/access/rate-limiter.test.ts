import { expect, it } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

it("limits the requests of an address and returns the seconds until the next", () => {
  let now = 0;
  const limiter = new RateLimiter(3, { now: () => now });
  const burst = () => Array.from({ length: 4 }, () => limiter.take("a"));
  expect(burst()).toEqual([undefined, undefined, undefined, 1]);
  expect(limiter.take("b")).toBeUndefined();
  now += 334;
  expect(burst()).toEqual([undefined, 1, 1, 1]);
  now += 60_000;
  expect(burst()).toEqual([undefined, undefined, undefined, 1]);
});
