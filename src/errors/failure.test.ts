import { expect, it } from "vitest";
import { Failure } from "./failure.ts";

it("captures no stack trace, and leaves those of other errors unchanged", () => {
  expect(new Failure("not-found", "There is no such block.").stack).not.toContain("\n");
  expect(new Error("A defect.").stack).toContain("failure.test.ts");
});
