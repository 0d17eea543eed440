import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Scheduler, type WorkKind } from "./scheduler.ts";

function setup() {
  const clock = { now: 0 };
  const scheduler = new Scheduler(() => clock.now);
  const ran: string[] = [];
  /** Schedules a unit of work that takes `millis`. */
  const run = (kind: WorkKind, name: string, millis = 0) =>
    scheduler.run(kind, () => {
      ran.push(name);
      clock.now += millis;
    });
  /** Uses up the time budget of the current turn. */
  const spend = () => run("request", "spent", 100);
  const untilRan = async (count: number) => {
    while (ran.length < count) await nextTurn();
  };
  return { clock, scheduler, ran, run, spend, untilRan };
}

it("runs work at once while the turn has time left, the rest in later turns", async () => {
  const { ran, run, untilRan } = setup();
  run("request", "a", 3);
  run("request", "b", 3);
  run("request", "c", 3);
  run("events", "d");
  expect(ran).toEqual(["a", "b"]);
  await untilRan(4);
  expect(ran.slice(2).sort()).toEqual(["c", "d"]);
});

it("keeps the order within a kind", async () => {
  const { ran, run, spend, untilRan } = setup();
  spend();
  for (const name of ["1", "2", "3", "4"]) run("events", name, 4);
  await nextTurn();
  run("events", "5");
  await untilRan(6);
  expect(ran).toEqual(["spent", "1", "2", "3", "4", "5"]);
});

it("runs requests before pipelined ones and starves no kind", async () => {
  const { ran, run, spend, untilRan } = setup();
  spend();
  for (let index = 0; index < 12; index++) run("events", "events", 4);
  for (let index = 0; index < 12; index++) run("pipelined", "pipelined", 4);
  for (let index = 0; index < 12; index++) run("request", "request", 4);
  await untilRan(37);
  const first = ran.slice(1, 17);
  expect(first.filter((name) => name === "request")).toHaveLength(12);
  expect(first).toContain("events");
  expect(first).toContain("pipelined");
});

it("runs at least one unit per turn", async () => {
  const { ran, run, spend } = setup();
  spend();
  for (let index = 0; index < 3; index++) run("events", "slow", 1000);
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  expect(ran).toHaveLength(4);
});

it("shortens turns while clients connect", async () => {
  const { scheduler, ran, run, untilRan } = setup();
  scheduler.noteConnection();
  run("request", "a", 1);
  run("request", "b");
  expect(ran).toEqual(["a"]);
  await untilRan(2);
  for (let turn = 0; turn < 6; turn++) await nextTurn();
  run("request", "c", 1);
  run("request", "d");
  expect(ran).toEqual(["a", "b", "c", "d"]);
});

it("resumes two readers per turn", async () => {
  const { scheduler, ran } = setup();
  for (const name of ["a", "b", "c", "d"]) scheduler.read(() => ran.push(name));
  expect(ran).toEqual(["a"]);
  await nextTurn();
  expect(ran).toEqual(["a", "b", "c"]);
  await nextTurn();
  expect(ran).toEqual(["a", "b", "c", "d"]);
});

it("delays reading after a long turn by the length of that turn", async () => {
  const { clock, scheduler, ran } = setup();
  scheduler.read(() => ran.push("a"));
  scheduler.read(() => ran.push("b"));
  clock.now += 20;
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(ran).toEqual(["a"]);
  clock.now += 20;
  await nextTurn();
  expect(ran).toEqual(["a", "b"]);
});

it("delays reading by at most a second, also after the process was suspended", async () => {
  const { clock, scheduler, ran } = setup();
  scheduler.read(() => ran.push("a"));
  scheduler.read(() => ran.push("b"));
  clock.now += 3_600_000;
  await nextTurn();
  clock.now += 1000;
  await nextTurn();
  expect(ran).toEqual(["a", "b"]);
});
