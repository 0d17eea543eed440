import { expect, it } from "vitest";
import { ReprocessQueue } from "./reprocess-queue.ts";

const LIMITS = { maxRoots: 3, maxItems: 5, maxRootsPerPeer: 2, maxItemsPerPeer: 4 };

it("items are released with their block, or after the next slot", () => {
  const awaiting = new ReprocessQueue<string>(LIMITS);
  expect(awaiting.hold("0xa", "1", "p", 10)).toBe("first");
  expect(awaiting.hold("0xa", "2", "q", 11)).toBe("held");
  expect(awaiting.hold("0xb", "3", "p", 11)).toBe("first");
  expect(awaiting.expire(11)).toEqual([]);
  expect(awaiting.expire(12)).toEqual(["1", "2"]);
  expect(awaiting.release("0xa")).toEqual([]);
  expect(awaiting.release("0xb")).toEqual(["3"]);
  expect(awaiting.hold("0xa", "4", "p", 12)).toBe("first");
  expect(awaiting.clear()).toEqual(["4"]);
});

it("limits apply per peer and in total", () => {
  const awaiting = new ReprocessQueue<number>(LIMITS);
  expect([1, 2, 3].map((n) => awaiting.hold(`0x${n}`, n, "p", 0))).toEqual(["first", "first", "full"]);
  expect([3, 4].map((n) => awaiting.hold(`0x${n}`, n, "q", 0))).toEqual(["first", "full"]);
  expect([1, 1, 1].map((n) => awaiting.hold(`0x${n}`, n, "q", 0))).toEqual(["held", "held", "full"]);
  expect(awaiting.release("0x1").length).toBe(3);
  expect([2, 2, 2].map((n) => awaiting.hold(`0x${n}`, n, "p", 0))).toEqual(["held", "held", "held"]);
  awaiting.clear();
  expect([1, 1, 1, 1, 1].map((n) => awaiting.hold(`0x${n}`, n, "p", 0)).at(-1)).toBe("full");
  expect(awaiting.hold("0x1", 1, "q", 0)).toBe("held");
  awaiting.clear();
  expect(awaiting.hold("0x4", 4, "p", 0)).toBe("first");
});
