import { expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { Progress } from "./progress.ts";

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

it("logs nothing for a task of less than two seconds", () => {
  const { records, at } = setup();
  for (let ms = 0; ms < 2000; ms += 100) at(ms, ms / 20, 100);
  expect(records).toEqual([]);
});

it("logs percentage, rate and remaining time every five seconds", () => {
  const { records, at } = setup();
  for (let ms = 0; ms <= 10_000; ms += 1000) at(ms, ms / 100, 1000);
  expect(records.map(({ fields }) => fields)).toEqual([
    { done: 20, perSecond: 10, percent: 2, remainingSeconds: 98 },
    { done: 70, perSecond: 10, percent: 7, remainingSeconds: 93 },
  ]);
});

it("clamps the percentage, and omits it for a total that is not positive", () => {
  const { records, at } = setup();
  at(2000, 450, 100);
  at(7000, -5, 100);
  at(12_000, 5, -10);
  expect(records.map(({ fields }) => fields?.percent)).toEqual([100, 0, undefined]);
});

it("omits percentage and remaining time without a total", () => {
  const { records, at } = setup();
  at(3000, 6, undefined);
  expect(records.map(({ fields }) => fields)).toEqual([
    { done: 6, perSecond: 2, percent: undefined, remainingSeconds: undefined },
  ]);
});

it("logs the end of a task of more than two seconds only", () => {
  const quick = setup();
  quick.finishAt(1999);
  expect(quick.records).toEqual([]);

  const long = setup();
  long.finishAt(61_000);
  expect(long.records).toMatchObject([{ message: "Working: done", fields: { tookSeconds: 61 } }]);
});
