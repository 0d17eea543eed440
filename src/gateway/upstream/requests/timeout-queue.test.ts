import { expect, it } from "vitest";
import { FakeTimers } from "../../../../test/support/time/fake-timers.ts";
import { TimeoutQueue } from "./timeout-queue.ts";

function openAlarms() {
  const timers = new FakeTimers();
  const rung: string[] = [];
  const timeouts = new TimeoutQueue(timers);
  const add = (millis: number, name: string) => timeouts.add(millis, () => rung.push(name));
  return { timers, timeouts, rung, add };
}

it("fire once, in time", async () => {
  const { timers, rung, add } = openAlarms();
  add(40, "late");
  add(8, "soon");
  await timers.advance(20);
  expect(rung).toEqual(["soon"]);
  await timers.advance(40);
  expect(rung).toEqual(["soon", "late"]);
});

it("do not fire when deleted", async () => {
  for (const off of [0, 1, 2]) {
    const { timers, timeouts, rung, add } = openAlarms();
    const all = ["first", "second", "third"].map((name) => add(8, name));
    timeouts.delete(all[off]!);
    timeouts.delete(all[off]!);
    await timers.advance(20);
    expect(rung).toHaveLength(2);
    expect(rung).not.toContain(["first", "second", "third"][off]);
  }
});

it("may delete and add others when they fire", async () => {
  const { timers, timeouts, rung, add } = openAlarms();
  const first = timeouts.add(8, () => {
    rung.push("first");
    timeouts.delete(second);
    add(8, "third");
  });
  const second = timeouts.add(8, () => {
    rung.push("second");
    timeouts.delete(first);
    add(8, "third");
  });
  await timers.advance(12);
  expect(rung).toHaveLength(1);
  await timers.advance(12);
  expect(rung[1]).toBe("third");
  expect(rung).toHaveLength(2);
});

it("do not fire after close", async () => {
  const { timers, timeouts, rung, add } = openAlarms();
  add(8, "first");
  add(8, "second");
  timeouts.close();
  await timers.advance(20);
  expect(rung).toEqual([]);
});
