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
    await revision.asOne(async () => revision.raise());
    expect(told).toEqual([[0, 1]]);
    revision.publish();
    expect(told).toEqual([
      [0, 1],
      [1, 2],
    ]);
    revision.raiseStatus();
  });
  expect(told).toEqual([
    [0, 1],
    [1, 2],
    [1, 3],
  ]);
  await expect(
    revision.asOne(() => {
      revision.raise();
      throw new Error("It failed.");
    }),
  ).rejects.toThrow("It failed.");
  expect(told.at(-1)).toEqual([2, 4]);
  revision.publish();
  end();
  revision.raise();
  expect(told).toHaveLength(4);
  expect(Array.from(revision.memory)).toEqual([3, 5]);
});
