import { expect, it } from "vitest";
import type { LogFields, Logger } from "../log/logger.ts";
import type { SyncChain } from "./sync-chain.ts";
import { SyncProgress } from "./sync-progress.ts";

function setUp() {
  const logs: (LogFields | undefined)[] = [];
  const logger = { info: (_: string, fields?: LogFields) => logs.push(fields) } as Partial<Logger> as Logger;
  const state = { now: 1000, slot: 0 };
  const chain = {
    get head() {
      return { slot: state.slot } as SyncChain["head"];
    },
  };
  const progress = new SyncProgress({ chain, timers: { now: () => state.now }, logger });
  return { logs, state, progress };
}

it("logs progress every few seconds, with the rate of the last minute and the remaining time", () => {
  const { logs, state, progress } = setUp();
  progress.begin();

  // Syncs 100 slots per second for 80 seconds, then 10 slots per second.
  for (let second = 0; second <= 200; second++) {
    state.now = 1000 + second * 1000;
    state.slot = second <= 80 ? second * 100 : 8000 + (second - 80) * 10;
    progress.report(20_000, 3);
  }

  expect(logs).toHaveLength(41);
  expect(logs[0]).toMatchObject({ slot: 0, target: 20_000, peers: 3, slotsPerSecond: undefined });
  expect(logs[1]).toMatchObject({ slot: 500, slotsPerSecond: 100, remainingSeconds: 195 });
  expect(logs[40]).toMatchObject({ slot: 9200, slotsPerSecond: 10, remainingSeconds: 1080 });
  expect(progress.summary()).toEqual({ slots: 9200, seconds: 200, slotsPerSecond: 46 });
});

it("progress restarts from an earlier head, and never exceeds 100 %", () => {
  const { logs, state, progress } = setUp();
  state.slot = 130;
  progress.begin();
  const at = (second: number, slot: number, target: number) => {
    state.now = 1000 + second * 1000;
    state.slot = slot;
    progress.report(target, 1);
  };
  at(0, 130, 142);
  at(5, 64, 142);
  at(10, 103, 142);
  at(15, 142, 142);
  at(20, 150, 142);
  at(25, 150, 60);
  const percents = logs.map((fields) => [fields?.slot, fields?.percent, fields?.slotsPerSecond]);
  expect(percents).toEqual([
    [130, 0, undefined],
    [64, 0, undefined],
    [103, 50, 7.8],
    [142, 100, 7.8],
    [150, 100, 5.73],
    [150, undefined, 4.3],
  ]);
  expect(progress.summary()).toMatchObject({ slots: 86 });
});
