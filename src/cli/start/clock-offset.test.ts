import { expect, it } from "vitest";
import { clockOffsetNotice } from "./clock-offset.ts";

const BEHIND = { offsetSeconds: -700.4, slot: 41, wallSlot: 391, speed: 1 };

it("states the offset, its effect on tools, and the remedy", () => {
  expect(clockOffsetNotice(BEHIND)).toBe(
    "Chain time is 700 s behind the wall clock: tools that compute the slot from the wall clock " +
      "get 391 instead of 41. A start with --catch-up leaves the slots in between empty; --reset starts a new chain.",
  );
  expect(clockOffsetNotice({ ...BEHIND, speed: 20 })).toContain("A start with --catch-up and --speed 1 leaves");
  const ahead = clockOffsetNotice({ offsetSeconds: 60, slot: 41, wallSlot: 11, speed: 1 });
  expect(ahead).toMatch(
    /^Chain time is 60 s ahead of the wall clock: .* 11 instead of 41\. Time cannot go back; --reset/,
  );
});
