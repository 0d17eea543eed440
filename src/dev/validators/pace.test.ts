import { describe, expect, it } from "vitest";
import { paceFor } from "./pace.ts";

describe("paceFor", () => {
  it.each([
    [6, 1, "clock"],
    [6, 6, "clock"],
    [6, 7, "lockstep"],
    [12, 100, "lockstep"],
    [1, 1, "clock"],
    [6, Infinity, "lockstep"],
  ])("of slots of %d s at speed %d is %s", (slotSeconds, speed, pace) => {
    expect(paceFor(slotSeconds, speed)).toBe(pace);
  });
});
