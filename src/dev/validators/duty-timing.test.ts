import { describe, expect, it } from "vitest";
import { dutyTimingFor } from "./duty-timing.ts";

describe("dutyTimingFor", () => {
  it.each([
    [6, 1, "clock"],
    [6, 6, "clock"],
    [6, 7, "lockstep"],
    [12, 100, "lockstep"],
    [1, 1, "clock"],
    [6, Infinity, "lockstep"],
  ])("with %d s slots at speed %d is %s", (slotSeconds, speed, timing) => {
    expect(dutyTimingFor(slotSeconds, speed)).toBe(timing);
  });
});
