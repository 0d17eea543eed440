import { expect, test } from "vitest";
import { Progress } from "./progress.ts";
import { createRecordingLogger } from "./recording-logger.test-support.ts";

function setup() {
  const logger = createRecordingLogger();
  let now = 0;
  const progress = new Progress({ message: "Working", logger, timers: { now: () => now } });
  const at = (ms: number, done: number, total: number | undefined) => {
    now = ms;
    progress.report(done, total, (perSecond) => ({ done, perSecond }));
  };
  const finishAt = (ms: number) => {
    now = ms;
    progress.finish();
  };
  return { records: logger.records, at, finishAt };
}

test("what is over within two seconds is not told of", () => {
  const { records, at } = setup();
  for (let ms = 0; ms < 2000; ms += 100) at(ms, ms / 20, 100);
  expect(records).toEqual([]);
});

test("what takes longer is told of with percent, speed and time left, every five seconds", () => {
  const { records, at } = setup();
  for (let ms = 0; ms <= 10_000; ms += 1000) at(ms, ms / 100, 1000);
  expect(records.map(({ fields }) => fields)).toEqual([
    { done: 20, perSecond: 10, percent: 2, timeLeft: "1min 38s" },
    { done: 70, perSecond: 10, percent: 7, timeLeft: "1min 33s" },
  ]);
});

test("neither more than all nor less than nothing is told to be done, nor a part of what has no end", () => {
  const { records, at } = setup();
  at(2000, 450, 100);
  at(7000, -5, 100);
  at(12_000, 5, -10);
  expect(records.map(({ fields }) => fields?.percent)).toEqual([100, 0, undefined]);
});

test("without a total neither percent nor time left is known", () => {
  const { records, at } = setup();
  at(3000, 6, undefined);
  expect(records.map(({ fields }) => fields)).toEqual([
    { done: 6, perSecond: 2, percent: undefined, timeLeft: undefined },
  ]);
});

test("the end is told of what took longer than two seconds, and of nothing else", () => {
  const quick = setup();
  quick.finishAt(1999);
  expect(quick.records).toEqual([]);

  const long = setup();
  long.finishAt(61_000);
  expect(long.records).toMatchObject([{ message: "Working: done", fields: { took: "1min 1s" } }]);
});
