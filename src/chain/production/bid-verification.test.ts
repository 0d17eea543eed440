import { describe, expect, it } from "vitest";
import { expectedGasLimit } from "./bid-verification.ts";

describe("the gas limit that a bid must have", () => {
  const PARENT = 30_000_000;
  /** A 1024th of the parent's, less one. */
  const STEP = 29_295;

  it.each([
    ["the target that is within a step", PARENT + STEP, PARENT + STEP],
    ["the target itself", PARENT - 100, PARENT - 100],
    ["a step towards a higher target", 60_000_000, PARENT + STEP],
    ["a step towards a lower target", 10_000_000, PARENT - STEP],
  ])("is %s", (_, target, expected) => {
    expect(expectedGasLimit(PARENT, target)).toBe(expected);
  });

  it("stays where no step is possible", () => {
    expect(expectedGasLimit(1000, 60_000_000)).toBe(1000);
  });
});
