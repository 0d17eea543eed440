import { expect, it } from "vitest";
import { countTurns } from "../../../test/support/time/event-loop.ts";
import { Scheduler } from "../scheduler.ts";
import { FanOut, Subscriber } from "./fan-out.ts";

const event = (topic: string, bytes = 2) => ({ topic, data: Buffer.alloc(bytes) });

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

interface Heard {
  topics: string[];
  isCutOff: boolean;
}

/** Simulates a slow delivery, which spans several turns. */
function takeTime(): void {
  for (const until = performance.now() + 0.05; performance.now() < until; );
}

function crowd(count: number, onDelivery = () => {}) {
  const heard = Array.from({ length: count }, (): Heard => ({ topics: [], isCutOff: false }));
  const subscribers = heard.map(
    (own) =>
      new Subscriber({
        deliver: ({ topic }) => {
          own.topics.push(topic);
          onDelivery();
        },
        disconnect: () => {
          own.isCutOff = true;
        },
      }),
  );
  return { heard, subscribers };
}

it("delivers an event at once while the turn has time left", () => {
  const { heard, subscribers } = crowd(10);
  const timeless = new Scheduler(() => 0);
  new FanOut(timeless).publish(event("head"), subscribers);
  expect(heard).toEqual(heard.map(() => ({ topics: ["head"], isCutOff: false })));
});

it("delivers events to many readers in order, over several turns", async () => {
  const turn = countTurns();
  const deliveredInTurn = new Map<number, number>();
  const { heard, subscribers } = crowd(300, () => {
    takeTime();
    deliveredInTurn.set(turn(), (deliveredInTurn.get(turn()) ?? 0) + 1);
  });
  const fanOut = new FanOut();
  const topics = ["block", "head", "attestation"];
  for (const topic of topics) fanOut.publish(event(topic), subscribers);
  while (heard.at(-1)!.topics.length < 3) await nextTurn();
  for (const own of heard) expect(own).toEqual({ topics, isCutOff: false });
  expect(Math.max(...deliveredInTurn.values())).toBeLessThan(300);
});

it("skips readers that subscribe or unsubscribe during a delivery", async () => {
  const { heard, subscribers } = crowd(600, takeTime);
  const interested = new Set(subscribers.slice(0, 599));
  const fanOut = new FanOut();
  fanOut.publish(event("head"), interested);
  interested.add(subscribers[599]!);
  subscribers[598]!.unsubscribe();
  while (heard[597]!.topics.length === 0) await nextTurn();
  expect(heard.slice(597).map(({ topics }) => topics)).toEqual([["head"], [], []]);
});

it("disconnects the last subscribers on overload; the others miss nothing", async () => {
  const { heard, subscribers } = crowd(600, takeTime);
  const fanOut = new FanOut();
  const topics = Array.from({ length: 10 }, (_, index) => `event ${index}`);
  for (const topic of topics) fanOut.publish(event(topic, 2 ** 20), subscribers);
  const last = heard.at(-1)!;
  const isDone = (own: Heard) => own.isCutOff || own.topics.length === topics.length;
  while (!heard.every(isDone)) await nextTurn();
  expect(last.isCutOff).toBe(true);
  expect(last.topics).toEqual(topics.slice(0, last.topics.length));
  const served = heard.filter(({ isCutOff }) => !isCutOff);
  expect(served.length).toBeGreaterThan(0);
  for (const own of served) expect(own.topics).toEqual(topics);
});
