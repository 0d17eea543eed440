import { expect, it } from "vitest";
import { PeerBuckets } from "./peer-buckets.ts";

it("evicts the buckets of idle peers only", () => {
  const clock = { milliseconds: 0, now: () => clock.milliseconds };
  const buckets = new PeerBuckets(clock);
  const rate = { burst: 1, perSecond: 1 };
  const early = Array.from({ length: 256 }, (_, index) => buckets.bucket(`early ${index}`, "x", rate));
  early[0]?.take(100);
  early[1]?.take(1);
  clock.milliseconds = 2000;

  buckets.bucket("late", "x", rate);

  expect(buckets.bucket("early 0", "x", rate)).toBe(early[0]);
  expect(buckets.bucket("early 1", "x", rate)).not.toBe(early[1]);
});
