import { expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/time/fake-timers.ts";
import { SuspensionWatch } from "./suspension-watch.ts";

function watched() {
  const timers = new FakeTimers();
  let gapMs = 0;
  let cpuMs = 0;
  const watch = new SuspensionWatch(timers, { elapsedMs: () => timers.now() + gapMs, cpuMs: () => cpuMs });
  const suspensions: number[] = [];
  watch.onSuspended((seconds) => suspensions.push(seconds));
  const gap = (seconds: number, cpuSeconds = 0) => {
    gapMs += seconds * 1000;
    cpuMs += cpuSeconds * 1000;
  };
  return { timers, watch, suspensions, gap };
}

it("reports a suspension once, with its length", async () => {
  const { timers, watch, suspensions, gap } = watched();
  await timers.advance(60_000);
  gap(67);
  await timers.advance(60_000);
  expect(suspensions).toEqual([67]);
  watch.close();
  gap(67);
  await timers.advance(60_000);
  expect(suspensions).toEqual([67]);
});

it("check() reports a suspension before the next heartbeat", () => {
  const { watch, suspensions, gap } = watched();
  gap(41);
  watch.check();
  watch.check();
  expect(suspensions).toEqual([40]);
});

it.each([
  ["a gap of a few seconds", 4, 0],
  ["a busy event loop", 30, 29],
])("%s is not a suspension", async (_, seconds, cpuSeconds) => {
  const { timers, suspensions, gap } = watched();
  gap(seconds, cpuSeconds);
  await timers.advance(60_000);
  expect(suspensions).toEqual([]);
});
