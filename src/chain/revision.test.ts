import { expect, it } from "vitest";
import { Revision } from "./revision.ts";

it("publishes the changes of a transaction at its end or on publish()", async () => {
  const revision = new Revision();
  const published: number[][] = [];
  const end = revision.onPublished(() => published.push(Array.from(revision.memory.subarray(0, 2))));
  revision.raiseStatus();
  await revision.transaction(async () => {
    revision.raiseStatus();
    revision.raise();
    revision.raise();
    expect(published.splice(0)).toEqual([[0, 1]]);
    revision.publish();
    revision.raise();
    expect(published.splice(0)).toEqual([[1, 2]]);
    revision.complete();
    // Nothing is deferred from here on.
    revision.raiseStatus();
    expect(published.splice(0)).toEqual([
      [2, 3],
      [2, 4],
    ]);
  });
  await revision.transaction(async () => revision.raise());
  const failing = revision.transaction(async () => {
    revision.raise();
    throw new Error("It failed.");
  });
  await expect(failing).rejects.toThrow("It failed.");
  revision.publish();
  expect(published.splice(0)).toEqual([
    [3, 5],
    [4, 6],
  ]);
  end();
  revision.raise();
  expect(published).toEqual([]);
  expect(Array.from(revision.memory)).toEqual([5, 7, 0]);
  Atomics.add(revision.evm, 0, 1);
  expect(Array.from(revision.memory)).toEqual([5, 7, 1]);
});
