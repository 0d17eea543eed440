import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Scheduler, type WorkKind } from "./scheduler.ts";

function setup() {
  const clock = { now: 0 };
  const scheduler = new Scheduler(() => clock.now);
  const ran: string[] = [];
  /** Schedules a unit of work that takes so many milliseconds. */
  const run = (kind: WorkKind, name: string, millis = 0) =>
    scheduler.run(kind, () => {
      ran.push(name);
      clock.now += millis;
    });
  /** Uses up the time of this turn. */
  const spend = () => run("message", "spent", 100);
  const untilRan = async (count: number) => {
    while (ran.length < count) await nextTurn();
  };
  return { scheduler, ran, run, spend, untilRan };
}

it("runs work at once while there is time in the turn, and the rest in later turns", async () => {
  const { ran, run, untilRan } = setup();
  run("message", "a", 3);
  run("message", "b", 3);
  run("message", "c", 3);
  run("events", "d");
  expect(ran).toEqual(["a", "b"]);
  await untilRan(4);
  expect(ran.slice(2).sort()).toEqual(["c", "d"]);
});

it("keeps the order of a kind", async () => {
  const { ran, run, spend, untilRan } = setup();
  spend();
  for (const name of ["1", "2", "3", "4"]) run("events", name, 4);
  await nextTurn();
  run("events", "5");
  await untilRan(6);
  expect(ran).toEqual(["spent", "1", "2", "3", "4", "5"]);
});

it("runs requests before those of clients that send ahead, and lets no kind starve", async () => {
  const { ran, run, spend, untilRan } = setup();
  spend();
  for (let index = 0; index < 12; index++) run("events", "events", 4);
  for (let index = 0; index < 12; index++) run("pipelined", "pipelined", 4);
  for (let index = 0; index < 12; index++) run("message", "message", 4);
  await untilRan(37);
  const first = ran.slice(1, 17);
  expect(first.filter((name) => name === "message")).toHaveLength(12);
  expect(first).toContain("events");
  expect(first).toContain("pipelined");
});

it("runs a unit in every turn, however long each takes", async () => {
  const { ran, run, spend } = setup();
  spend();
  for (let index = 0; index < 3; index++) run("events", "slow", 1000);
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  expect(ran).toHaveLength(4);
});

it("has short turns while clients connect", async () => {
  const { scheduler, ran, run, untilRan } = setup();
  scheduler.noteConnection();
  await nextTurn();
  expect(scheduler.isAccepting).toBe(true);
  run("message", "a", 1);
  run("message", "b");
  expect(ran).toEqual(["a"]);
  await untilRan(2);
  while (scheduler.isAccepting) await nextTurn();
  await nextTurn();
  run("message", "c", 1);
  run("message", "d");
  expect(ran).toEqual(["a", "b", "c", "d"]);
});
