import { expect, it } from "vitest";
import { atTurnEnd } from "./turn-end.ts";

const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

it("does all of a turn in one go when it ends, in its order, and what comes of it afterwards", async () => {
  const done: string[] = [];
  atTurnEnd(() => {
    done.push("first");
    void Promise.resolve().then(() => done.push("after the first"));
    atTurnEnd(() => done.push("in the next turn"));
  });
  atTurnEnd(() => done.push("second"));
  await Promise.resolve();
  expect(done).toEqual([]);
  await turnEnd();
  expect(done).toEqual(["first", "second", "after the first"]);
  await turnEnd();
  expect(done.at(-1)).toBe("in the next turn");
});
