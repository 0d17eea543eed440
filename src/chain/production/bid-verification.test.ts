import { describe, expect, it } from "vitest";
import { expectedGasLimit } from "./bid-verification.ts";

describe("expectedGasLimit", () => {
  const PARENT = 30_000_000;
  /** 1/1024 of the parent's gas limit, minus one. */
  const STEP = 29_295;

  it.each([
    ["the target that is within a step", PARENT + STEP, PARENT + STEP],
    ["the target itself", PARENT - 100, PARENT - 100],
    ["a step towards a higher target", 60_000_000, PARENT + STEP],
    ["a step towards a lower target", 10_000_000, PARENT - STEP],
  ])("is %s", (_, target, expected) => {
    expect(expectedGasLimit(PARENT, target)).toBe(expected);
  });

  it("stays if no step is possible", () => {
    expect(expectedGasLimit(1000, 60_000_000)).toBe(1000);
  });
});
