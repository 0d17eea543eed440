import { expect, it } from "vitest";
import { summaryOf } from "./latency.ts";

it("takes the median and the 95th percentile of what was measured", () => {
  const millis = Array.from({ length: 20 }, (_, place) => 20 - place);
  expect(summaryOf(millis)).toEqual({ median: 10, p95: 19, calls: 20 });
  expect(summaryOf([7])).toEqual({ median: 7, p95: 7, calls: 1 });
  expect(summaryOf([])).toBeUndefined();
});
