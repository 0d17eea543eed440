import { expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { Alarms } from "./alarms.ts";

function openAlarms() {
  const timers = new FakeTimers();
  const rung: string[] = [];
  const alarms = new Alarms(timers);
  const add = (millis: number, name: string) => alarms.add(millis, () => rung.push(name));
  return { timers, alarms, rung, add };
}

it("ring each at its time, once", async () => {
  const { timers, rung, add } = openAlarms();
  add(40, "late");
  add(8, "soon");
  await timers.advance(20);
  expect(rung).toEqual(["soon"]);
  await timers.advance(40);
  expect(rung).toEqual(["soon", "late"]);
});

it("do not ring when they are called off, whichever they are", async () => {
  for (const off of [0, 1, 2]) {
    const { timers, alarms, rung, add } = openAlarms();
    const all = ["first", "second", "third"].map((name) => add(8, name));
    alarms.delete(all[off]!);
    alarms.delete(all[off]!);
    await timers.advance(20);
    expect(rung).toHaveLength(2);
    expect(rung).not.toContain(["first", "second", "third"][off]);
  }
});

it("may call off each other, and set others, when they ring", async () => {
  const { timers, alarms, rung, add } = openAlarms();
  const first = alarms.add(8, () => {
    rung.push("first");
    alarms.delete(second);
    add(8, "third");
  });
  const second = alarms.add(8, () => {
    rung.push("second");
    alarms.delete(first);
    add(8, "third");
  });
  await timers.advance(12);
  expect(rung).toHaveLength(1);
  await timers.advance(12);
  expect(rung[1]).toBe("third");
  expect(rung).toHaveLength(2);
});

it("ring no more when they are closed", async () => {
  const { timers, alarms, rung, add } = openAlarms();
  add(8, "first");
  add(8, "second");
  alarms.close();
  await timers.advance(20);
  expect(rung).toEqual([]);
});
