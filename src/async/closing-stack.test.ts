import { expect, it } from "vitest";
import { ClosingStack } from "./closing-stack.ts";

const failing = (error: Error) => async () => {
  throw error;
};

it("closes sequentially, in reverse order, and only once", async () => {
  const closed: string[] = [];
  const stack = new ClosingStack();
  stack.defer(() => closed.push("first"));
  stack.defer(async () => {
    await null;
    closed.push("second");
  });
  await stack[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  expect(closed).toEqual(["second", "first"]);
});

it("does not close what was moved to another stack", async () => {
  let isClosed = false;
  const moved = await (async () => {
    await using stack = new ClosingStack();
    stack.defer(() => {
      isClosed = true;
    });
    return stack.move();
  })();
  expect(isClosed).toBe(false);
  await moved[Symbol.asyncDispose]();
  expect(isClosed).toBe(true);
});

it("closes the rest after a failure, and throws all errors", async () => {
  const closed: string[] = [];
  const [early, late] = [new Error("early"), new Error("late")];
  const stack = new ClosingStack();
  stack.defer(() => closed.push("first"));
  stack.defer(failing(early));
  await expect(stack[Symbol.asyncDispose]()).rejects.toBe(early);
  expect(closed).toEqual(["first"]);
  stack.defer(failing(early));
  stack.defer(failing(late));
  await expect(stack[Symbol.asyncDispose]()).rejects.toMatchObject({ errors: [late, early] });
});
