import { expect, it } from "vitest";
import { Revision } from "./revision.ts";

it("tells of several changes as of one, at their end or when it is to be told of", async () => {
  const revision = new Revision();
  const told: number[][] = [];
  const end = revision.onPublished(() => told.push(Array.from(revision.memory)));
  revision.raiseStatus();
  await revision.asOne(async () => {
    revision.raiseStatus();
    revision.raise();
    revision.raise();
    expect(told.splice(0)).toEqual([[0, 1]]);
    revision.publish();
    revision.raise();
    expect(told.splice(0)).toEqual([[1, 2]]);
    revision.complete();
    // From then on nothing is held back.
    revision.raiseStatus();
    expect(told.splice(0)).toEqual([
      [2, 3],
      [2, 4],
    ]);
  });
  await revision.asOne(async () => revision.raise());
  const failing = revision.asOne(async () => {
    revision.raise();
    throw new Error("It failed.");
  });
  await expect(failing).rejects.toThrow("It failed.");
  revision.publish();
  expect(told.splice(0)).toEqual([
    [3, 5],
    [4, 6],
  ]);
  end();
  revision.raise();
  expect(told).toEqual([]);
  expect(Array.from(revision.memory)).toEqual([5, 7]);
});
