import { expect, it } from "vitest";
import { runAtTickEnd } from "./tick-batch.ts";

const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

it("runs callbacks in order at the end of the tick, and nested ones after", async () => {
  const done: string[] = [];
  runAtTickEnd(() => {
    done.push("first");
    void Promise.resolve().then(() => done.push("after the first"));
    runAtTickEnd(() => done.push("in the next turn"));
  });
  runAtTickEnd(() => done.push("second"));
  await Promise.resolve();
  expect(done).toEqual([]);
  await turnEnd();
  expect(done).toEqual(["first", "second", "after the first"]);
  await turnEnd();
  expect(done.at(-1)).toBe("in the next turn");
});
