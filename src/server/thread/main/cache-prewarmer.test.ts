import { expect, it } from "vitest";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import type { ToThread } from "../messages/protocol.ts";
import { CachePrewarmer } from "./cache-prewarmer.ts";

/**
 * Creates a prewarmer for two calls that depend on the head and one that depends on the status. Records the responses
 * sent for them.
 */
function createPrewarmer({ takesMs = 0 } = {}) {
  const revision = new Int32Array(2);
  const sent: string[][] = [];
  let now = 0;
  const outbox = new ThreadOutbox<ToThread>({
    postMessage: (messages) => sent.push(messages.map(([, id, body]) => `${id}: ${body}`)),
  });
  const prewarmer = new CachePrewarmer(outbox, revision, () => now);
  const add = (id: number, on: "head" | "status", until?: Promise<void>) =>
    prewarmer.add(id, {
      on,
      isList: until !== undefined,
      answer: async (validity) => {
        now += takesMs;
        if (until) await until;
        outbox.send(["response", id, JSON.stringify(validity), undefined, undefined, validity]);
      },
    });
  return {
    prewarmer,
    sent,
    add,
    pass: (millis: number) => {
      now += millis;
    },
    async raise(...places: number[]) {
      for (const index of places) revision[index]!++;
      prewarmer.schedule();
      await new Promise(setImmediate);
    },
  };
}

const of = (id: number, on: string, revision: number) =>
  `${id}: ${JSON.stringify({ on, revision, isPrewarmed: true })}`;

it("sends responses whose revision has changed, with the new revision, in one batch", async () => {
  const { add, raise, prewarmer, sent } = createPrewarmer();
  await raise(0, 1);
  for (const [id, on] of [
    [-1, "head"],
    [-2, "status"],
    [-3, "head"],
  ] as const)
    add(id, on);
  await raise(0, 1);
  await raise(1);
  // Nothing has changed since the last time.
  await raise();
  prewarmer.delete(-3);
  await raise(0, 1);
  expect(sent).toEqual([
    [of(-1, "head", 2), of(-2, "status", 2), of(-3, "head", 2)],
    [of(-2, "status", 3)],
    [of(-1, "head", 3), of(-2, "status", 4)],
  ]);
});

it("responds once to changes of the same turn", async () => {
  const { add, raise, prewarmer, sent } = createPrewarmer();
  add(-1, "head");
  prewarmer.schedule();
  await raise(0, 1);
  expect(sent).toEqual([[of(-1, "head", 1)]]);
});

it("continues after a call has failed", async () => {
  const { add, raise, prewarmer, sent } = createPrewarmer();
  prewarmer.add(-1, { on: "head", isList: false, answer: () => Promise.reject(new Error("There is none.")) });
  add(-2, "head");
  await raise(0, 1);
  expect(sent).toEqual([[of(-2, "head", 1)]]);
});

it("does not wait for lists, and repeats one only after it has finished and changed", async () => {
  const { add, raise, sent } = createPrewarmer();
  const { promise, resolve } = Promise.withResolvers<void>();
  add(-1, "head", promise);
  add(-2, "head");
  await raise(0);
  await raise(0);
  expect(sent).toEqual([[of(-2, "head", 1)], [of(-2, "head", 2)]]);
  resolve();
  await new Promise(setImmediate);
  expect(sent.slice(2)).toEqual([[of(-1, "head", 1)], [of(-1, "head", 2)]]);
});

it("limits the number of calls and its share of time", async () => {
  const many = createPrewarmer();
  for (let id = -1; id >= -100; id--) many.add(id, "head");
  await many.raise(0);
  expect(many.sent.flat()).toHaveLength(64);

  const slow = createPrewarmer({ takesMs: 2 });
  for (let id = -1; id >= -5; id--) slow.add(id, "head");
  for (let change = 0; change < 10; change++) await slow.raise(0);
  expect(slow.sent.flat()).toHaveLength(10);
  slow.pass(80);
  await slow.raise(0);
  expect(slow.sent.flat()).toHaveLength(12);
});
