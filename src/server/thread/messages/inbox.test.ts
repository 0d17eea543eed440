import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { ThreadInbox } from "./inbox.ts";

it("handles many messages in order, over several turns", async () => {
  const handled: number[] = [];
  const inbox = new ThreadInbox<[kind: "work", number: number]>({
    work: (number) => {
      for (const until = performance.now() + 4; performance.now() < until; );
      handled.push(number);
    },
  });
  const messages = Array.from({ length: 20 }, (_, number): [kind: "work", number: number] => ["work", number]);
  inbox.receive(messages.slice(0, 15));
  const handledAtOnce = handled.length;
  // Later messages queue behind earlier ones.
  inbox.receive(messages.slice(15));
  expect(handledAtOnce).toBeLessThan(6);
  expect(handled).toHaveLength(handledAtOnce);
  while (handled.length < 20) await setImmediate();
  expect(handled).toEqual(messages.map(([, number]) => number));
});

it("handles few messages immediately", async () => {
  // The time budget for this turn may be used up.
  await setImmediate();
  await setImmediate();
  const handled: string[] = [];
  const inbox = new ThreadInbox<[kind: "note", text: string]>({ note: (text) => handled.push(text) });
  inbox.receive([["note", "first"]]);
  inbox.receive([
    ["note", "second"],
    ["note", "third"],
  ]);
  expect(handled).toEqual(["first", "second", "third"]);
});

it("counts the microtasks of messages against the time budget", async () => {
  const handled: number[] = [];
  const inbox = new ThreadInbox<[kind: "response", number: number]>({
    response: (number) => {
      void Promise.resolve().then(() => {
        for (const until = performance.now() + 4; performance.now() < until; );
        handled.push(number);
      });
    },
  });
  inbox.receive(Array.from({ length: 40 }, (_, number): [kind: "response", number: number] => ["response", number]));
  await setImmediate();
  expect(handled.length).toBeLessThan(20);
  while (handled.length < 40) await setImmediate();
});
