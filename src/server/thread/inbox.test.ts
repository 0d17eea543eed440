import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { ThreadInbox } from "./inbox.ts";

it("handles a great many messages in their order, and lets others in between", async () => {
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
  // What comes meanwhile waits behind what came before.
  inbox.receive(messages.slice(15));
  expect(handledAtOnce).toBeLessThan(6);
  expect(handled).toHaveLength(handledAtOnce);
  while (handled.length < 20) await setImmediate();
  expect(handled).toEqual(messages.map(([, number]) => number));
});

it("handles few messages at once, again and again", async () => {
  // The time of this turn may be over.
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

it("what messages set off counts as well", async () => {
  const handled: number[] = [];
  const inbox = new ThreadInbox<[kind: "answer", number: number]>({
    answer: (number) => {
      void Promise.resolve().then(() => {
        for (const until = performance.now() + 4; performance.now() < until; );
        handled.push(number);
      });
    },
  });
  inbox.receive(Array.from({ length: 40 }, (_, number): [kind: "answer", number: number] => ["answer", number]));
  await setImmediate();
  expect(handled.length).toBeLessThan(20);
  while (handled.length < 40) await setImmediate();
});
