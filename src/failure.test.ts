import { expect, it } from "vitest";
import { Failure } from "./failure.ts";

it("a failure says what it has to say without a stack, and other errors keep theirs", () => {
  expect(new Failure("not-found", "There is no such block.").stack).not.toContain("\n");
  expect(new Error("A defect.").stack).toContain("failure.test.ts");
});
