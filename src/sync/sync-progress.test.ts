import { expect, test } from "vitest";
import type { LogFields, Logger } from "../log/logger.ts";
import type { SyncChain } from "./sync-chain.ts";
import { SyncProgress } from "./sync-progress.ts";

test("progress is told every few seconds, with the speed of the last minute and the time that is left", () => {
  const told: (LogFields | undefined)[] = [];
  const logger = { info: (_: string, fields?: LogFields) => told.push(fields) } as Partial<Logger> as Logger;
  let now = 1000;
  const timers = { now: () => now };
  let slot = 0;
  const chain = {
    get head() {
      return { slot } as SyncChain["head"];
    },
  };
  const progress = new SyncProgress({ chain, timers, logger });
  progress.begin();

  // 100 slots a second for 80 s, then 10 slots a second.
  for (let second = 0; second <= 200; second++) {
    now = 1000 + second * 1000;
    slot = second <= 80 ? second * 100 : 8000 + (second - 80) * 10;
    progress.report(20_000, 3);
  }

  expect(told).toHaveLength(41);
  expect(told[0]).toMatchObject({ slot: 0, target: 20_000, peers: 3, slotsPerSecond: undefined });
  expect(told[1]).toMatchObject({ slot: 500, slotsPerSecond: 100, timeLeft: "3min 15s" });
  expect(told[40]).toMatchObject({ slot: 9200, slotsPerSecond: 10, timeLeft: "18min 0s" });
  expect(progress.summary()).toEqual({ slots: 9200, seconds: 200, slotsPerSecond: 46 });
});
