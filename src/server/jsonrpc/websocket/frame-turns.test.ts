import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type FrameSource, FrameTurns } from "./frame-turns.ts";

/** Of a client that has sent so many bytes, of which a hundred are read at a time. */
class Sent implements FrameSource {
  readonly #name: string;
  readonly #order: string[];
  readonly #cost: number;
  unread: number;

  constructor(name: string, bytes: number, order: string[], cost = 0) {
    this.#name = name;
    this.#order = order;
    this.#cost = cost;
    this.unread = bytes;
  }

  readSome(): boolean {
    this.#order.push(this.#name);
    this.unread -= Math.min(this.unread, 100);
    for (const until = performance.now() + this.#cost; performance.now() < until; );
    return this.unread > 0;
  }
}

it("who has sent little is read from at once, whatever others have sent", async () => {
  const order: string[] = [];
  const turns = new FrameTurns();
  for (let client = 0; client < 50; client++) turns.add(new Sent("long", 2000, order, 0.2));
  const before = order.length;
  turns.add(new Sent("short", 100, order));
  while (!order.includes("short")) await nextTurn();
  expect(order.indexOf("short") - before).toBeLessThan(3);
  while (order.filter((name) => name === "long").length < 50 * 20) await nextTurn();
});

it("who has sent much is read from in turns, also while others keep on sending little", async () => {
  const order: string[] = [];
  const turns = new FrameTurns();
  turns.add(new Sent("first", 5000, order, 1));
  turns.add(new Sent("second", 5000, order, 1));
  while (order.filter((name) => name === "second").length < 50) {
    for (let client = 0; client < 10; client++) turns.add(new Sent("short", 10, order, 1));
    await nextTurn();
  }
  // Each after four of the others; the first has had two turns when the second has its first one.
  expect(order.lastIndexOf("second") - order.lastIndexOf("first")).toBeLessThanOrEqual(2 * 5);
  expect(order.lastIndexOf("second")).toBeGreaterThan(400);
});

it("others have their turns meanwhile, and who is forgotten is not read from", async () => {
  const order: string[] = [];
  const turns = new FrameTurns();
  const left = new Sent("left", 100_000, order, 1);
  turns.add(left);
  turns.add(new Sent("other", 1000, order, 1));
  await nextTurn();
  expect(order.length).toBeLessThan(15);
  turns.forget(left);
  const before = order.filter((name) => name === "left").length;
  while (order.filter((name) => name === "other").length < 10) await nextTurn();
  expect(order.filter((name) => name === "left")).toHaveLength(before);
});
