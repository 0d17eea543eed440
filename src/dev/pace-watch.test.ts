import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, test } from "vitest";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { PaceWatch } from "./pace-watch.ts";

const SECONDS_PER_SLOT = 2;
const SPEED = 10;

/** A chain whose slots take as much real time as the test says. */
function watchedChain() {
  const logger = createRecordingLogger();
  let slot = 0;
  let realMs = 0;
  let waitedMs = 0;
  const clock = { secondsPerSlot: SECONDS_PER_SLOT, speed: SPEED, nowSeconds: () => slot * SECONDS_PER_SLOT };
  const watch = new PaceWatch({ clock, timers: { now: () => realMs }, engine: { waitedMs: () => waitedMs }, logger });
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

test("a chain that keeps its pace is not spoken of", () => {
  const { pass, records } = watchedChain();
  pass(1000, IN_TIME);
  expect(records).toEqual([]);
});

test("a chain that falls behind is warned of once, and spoken of again when it keeps its pace", () => {
  const { pass, records } = watchedChain();
  pass(10, IN_TIME + 0.4);
  expect(records).toEqual([]);
  pass(3 * SLOTS_PER_EPOCH, IN_TIME + 0.4);
  expect(records).toEqual([
    { level: "warn", message: expect.any(String), fields: { slot: 13, speed: 10, lagSeconds: 52 } },
  ]);
  pass(2 * SLOTS_PER_EPOCH, IN_TIME);
  expect(records.map(({ level }) => level)).toEqual(["warn", "notice"]);
  expect(records[1]!.fields).toMatchObject({ lagSeconds: (10 + 3 * SLOTS_PER_EPOCH) * 4 });

  pass(100, IN_TIME);
  expect(records).toHaveLength(2);
  pass(20, IN_TIME + 0.4);
  expect(records.slice(2)).toEqual([expect.objectContaining({ level: "warn" })]);
});

test("a slow drift is noticed as well, and a lag that is made up for is over", () => {
  const { pass, records } = watchedChain();
  pass(1000, IN_TIME + 0.006);
  expect(records.map(({ level }) => level)).toEqual(["warn"]);
  pass(2 * SLOTS_PER_EPOCH, IN_TIME / 2);
  expect(records.map(({ level }) => level)).toEqual(["warn", "notice"]);
});

test("who is too slow is the one that was waited for", () => {
  const { pass, records } = watchedChain();
  // Waiting that fits into a slot costs no time.
  pass(100, IN_TIME, IN_TIME / 2);
  pass(3, 4, 3.9);
  pass(3 * SLOTS_PER_EPOCH, IN_TIME, IN_TIME / 2);
  pass(3, 4, IN_TIME / 2);
  expect(records.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^The execution client is too slow/),
    expect.stringMatching(/^The chain keeps its speed/),
    expect.stringMatching(/^The machine is too slow/),
  ]);
});
