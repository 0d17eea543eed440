import { expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";

function open() {
  const clock = { millis: 0 };
  const events: string[] = [];
  const breaker = new CircuitBreaker({
    timers: { now: () => clock.millis },
    onOpen: (failures, requests) => events.push(`open ${failures}/${requests}`),
    onClose: () => events.push("closed"),
  });
  const record = (outcomes: string) => {
    for (const outcome of outcomes) outcome === "+" ? breaker.recordSuccess() : breaker.recordFailure();
  };
  return { breaker, record, clock, events };
}

it("opens at three failures within a minute that are a fifth of all requests", () => {
  const { breaker, record, clock, events } = open();
  record("--");
  clock.millis = 60_000;
  record("--");
  expect(breaker.isOpen).toBe(false);
  record("+".repeat(20));
  record("-");
  expect([breaker.isOpen, breaker.failureTenths]).toEqual([false, 1]);
  record("---");
  expect(events).toEqual(["open 5/25"]);
});

it("forgets failures after a minute", () => {
  const { breaker, record, clock } = open();
  record("+-");
  clock.millis = 30_000;
  record("+++-");
  expect(breaker.failureTenths).toBe(3);
  clock.millis = 60_000;
  expect(breaker.failureTenths).toBe(2);
  clock.millis = 89_999;
  expect(breaker.failureTenths).toBe(2);
  clock.millis = 90_000;
  expect(breaker.failureTenths).toBe(0);
});

it("allows one probe at a time, with backoff, and closes after three successes", () => {
  const { breaker, record, clock, events } = open();
  record("---");
  expect([breaker.isOpen, breaker.isProbeDue]).toEqual([true, false]);
  const delays: number[] = [];
  for (let probe = 0; probe < 7; probe++) {
    const from = clock.millis;
    while (!breaker.isProbeDue) clock.millis += 500;
    delays.push(clock.millis - from);
    breaker.recordRequest();
    expect(breaker.isProbeDue).toBe(false);
    record("-");
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  clock.millis += 30_000;
  for (const isOpen of [true, true, false]) {
    expect(breaker.isProbeDue).toBe(true);
    breaker.recordRequest();
    record("+");
    expect(breaker.isOpen).toBe(isOpen);
    clock.millis += 30_000;
  }
  expect(events).toEqual(["open 3/3", "closed"]);
  expect(breaker.failureTenths).toBe(0);
});
