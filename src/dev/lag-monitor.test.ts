import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { LagMonitor } from "./lag-monitor.ts";

const SECONDS_PER_SLOT = 2;
const SPEED = 10;

/** Creates a chain whose slots take the given real time. */
function watchedChain(isEvm = false) {
  const logger = createRecordingLogger();
  let slot = 0;
  let realMs = 0;
  let waitedMs = 0;
  const clock = { secondsPerSlot: SECONDS_PER_SLOT, speed: SPEED, nowSeconds: () => slot * SECONDS_PER_SLOT };
  const engine = { waitedMs: () => waitedMs, ...(isEvm && { buildsAtOnce: true as const }) };
  const watch = new LagMonitor({ clock, timers: { now: () => realMs }, engine, logger });
  const pass = (slots: number, secondsEach: number, waitedEach = 0) => {
    for (let passed = 0; passed < slots; passed++) {
      slot++;
      realMs += secondsEach * 1000;
      waitedMs += waitedEach * 1000;
      watch.onSlot(slot);
    }
  };
  return { pass, records: logger.records };
}

const IN_TIME = SECONDS_PER_SLOT / SPEED;

it("logs nothing while the chain keeps its speed", () => {
  const { pass, records } = watchedChain();
  pass(1000, IN_TIME);
  expect(records).toEqual([]);
});

it("warns once when the chain falls behind, and notes the recovery", () => {
  const { pass, records } = watchedChain();
  pass(10, IN_TIME + 0.4);
  expect(records).toEqual([]);
  pass(3 * SLOTS_PER_EPOCH, IN_TIME + 0.4);
  expect(records).toEqual([
    { level: "warn", message: expect.any(String), fields: { slot: 13, speed: 10, lagSeconds: 52, cause: "machine" } },
  ]);
  pass(2 * SLOTS_PER_EPOCH, IN_TIME);
  expect(records.map(({ level }) => level)).toEqual(["warn", "notice"]);
  expect(records[1]!.fields).toMatchObject({ lagSeconds: (10 + 3 * SLOTS_PER_EPOCH) * 4 });

  pass(100, IN_TIME);
  expect(records).toHaveLength(2);
  pass(20, IN_TIME + 0.4);
  expect(records.slice(2)).toEqual([expect.objectContaining({ level: "warn" })]);
});

it("detects a slow drift, and ends when the lag is caught up", () => {
  const { pass, records } = watchedChain();
  pass(1000, IN_TIME + 0.006);
  expect(records.map(({ level }) => level)).toEqual(["warn"]);
  pass(2 * SLOTS_PER_EPOCH, IN_TIME / 2);
  expect(records.map(({ level }) => level)).toEqual(["warn", "notice"]);
});

it.each([
  ["execution client", false],
  ["EVM", true],
])("names the %s as the cause if the chain waited for it", (cause, isEvm) => {
  const { pass, records } = watchedChain(isEvm);
  // Waiting within a slot causes no lag.
  pass(100, IN_TIME, IN_TIME / 2);
  pass(3, 4, 3.9);
  pass(3 * SLOTS_PER_EPOCH, IN_TIME, IN_TIME / 2);
  pass(3, 4, IN_TIME / 2);
  expect(records.map(({ fields }) => fields?.cause)).toEqual([cause, undefined, "machine"]);
});
