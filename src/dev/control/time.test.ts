import { setImmediate as nextTurn } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished } from "vitest";
import { ControlError } from "../../api/dev-control.ts";
import { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { MAX_EMPTY_EPOCHS } from "../constants.ts";
import { DevTime } from "./time.ts";

const MAX_EMPTY_SLOTS = MAX_EMPTY_EPOCHS * SLOTS_PER_EPOCH;

interface SceneOptions {
  headSlot?: number;
  startSlot?: number;
  fixedReason?: string;
  /** Real seconds per slot. */
  slotDuration?: number;
}

/** Creates a time control on a clock whose slots are too long to pass during a test. */
function scene({ headSlot = 0, startSlot = 0, fixedReason, slotDuration = 0 }: SceneOptions = {}) {
  const clock = new VirtualClock({
    genesisTime: 0,
    secondsPerSlot: 1e6,
    startSlot,
    speed: 1,
    onListenerError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => clock.stop());
  const stored: number[] = [];
  const flows: number[] = [];
  const triggers: string[] = [];
  const lines: string[] = [];
  const { logger } = createLogger({ format: "text", spec: "INFO", destination: { write: (line) => lines.push(line) } });
  const time = new DevTime({
    clock,
    fixedReason,
    headSlot: () => headSlot,
    onFlow: () => flows.push(clock.speed),
    storeSlot: async (slot) => void stored.push(slot),
    logger,
    timers: { now: () => clock.currentSlot * slotDuration * 1000 },
  });
  time.onSlot((slot, trigger) => void triggers.push(`${slot} ${trigger}`));
  return { clock, time, stored, flows, triggers, lines };
}

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof ControlError ? error.message : error),
  );

it("runs control calls one after the other", async () => {
  const { time, clock } = scene();
  const seen: number[] = [];
  await Promise.all([
    time.advance({ slots: 3 }),
    time.exclusive(async () => seen.push(clock.currentSlot)),
    time.advance({ slots: 2 }),
    time.exclusive(async () => seen.push(clock.currentSlot)),
  ]);
  expect(seen).toEqual([3, 5]);
});

it("stops the clock during work and restarts it after, also when the work fails", async () => {
  const { time, clock, flows } = scene();
  clock.run();
  const failing = time.whilePaused(async () => {
    expect(clock.isFlowing).toBe(false);
    throw new Error("The work failed.");
  });
  await expect(failing).rejects.toThrow("The work failed.");
  expect(clock.isFlowing).toBe(true);
  expect(flows).toEqual([1]);
});

it.each<[string, (time: DevTime) => Promise<unknown>]>([
  ["a control call", (time) => time.whilePaused(async () => {})],
  ["a pause", (time) => time.pause()],
])("%s waits for the duties of the current slot", async (_, control) => {
  const { time, clock } = scene();
  const [begun, duties] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  clock.onSlot(() => {
    begun.resolve();
    return duties.promise;
  });
  onTestFinished(() => duties.resolve());
  // At this speed, a slot takes a millisecond.
  clock.setSpeed(1e9);
  clock.run();
  await begun.promise;
  let isDone = false;
  const work = control(time).then(() => {
    isDone = true;
  });
  await nextTurn();
  expect([clock.isFlowing, isDone]).toEqual([false, false]);
  duties.resolve();
  await work;
});

it("leaves a paused clock paused", async () => {
  const { time, clock, flows } = scene();
  await time.advance({ slots: 1 });
  expect(clock.isFlowing).toBe(false);
  expect(flows).toEqual([]);
});

it("stores the slot once per call, and only if it changed", async () => {
  const { time, stored } = scene();
  await time.whilePaused(async () => {});
  expect(stored).toEqual([]);
  await time.advance({ slots: 3 });
  expect(stored).toEqual([3]);
  await expect(
    time.whilePaused(async () => {
      await time.advanceSlot();
      throw new Error("The work failed.");
    }),
  ).rejects.toThrow();
  expect(stored).toEqual([3, 4]);
});

it("stops at the condition, which is checked before the first slot, or at the abort of the signal", async () => {
  const { time, clock } = scene();
  await time.advance({ slots: 5, until: () => true });
  expect(clock.currentSlot).toBe(0);
  await time.advance({ slots: 5, until: () => clock.currentSlot === 2 });
  expect(clock.currentSlot).toBe(2);
  await time.advance({ slots: 5, signal: AbortSignal.abort() });
  expect(clock.currentSlot).toBe(2);
});

it("counts the slots that passed", async () => {
  const { time } = scene();
  expect(await time.advance({ slots: 2 })).toBe(2);
  expect(await time.skip({ slots: 5, signal: AbortSignal.abort() })).toBe(0);
});

it("lets an abort in between slots that do nothing", async () => {
  const { time, clock } = scene();
  const waiting = new AbortController();
  setImmediate(() => waiting.abort());
  expect(await time.skip({ slots: MAX_EMPTY_SLOTS, signal: waiting.signal })).toBeLessThan(MAX_EMPTY_SLOTS);
  expect(clock.currentSlot).toBeLessThan(MAX_EMPTY_SLOTS);
});

it("logs the progress of a call that takes long, and its end", async () => {
  const { time, lines } = scene({ slotDuration: 1 });
  await time.advance({ slots: 1 });
  expect(lines).toEqual([]);
  await time.advance({ slots: 10, describe: () => "the finalized epoch is still 0" });
  await time.skip({ slots: 4 });
  expect(lines.map((line) => line.slice(line.indexOf("Advancing")).trim())).toEqual([
    'Advancing on request  slot=3 slotsPerSecond=1 detail="the finalized epoch is still 0"',
    'Advancing on request  slot=8 slotsPerSecond=1 detail="the finalized epoch is still 0"',
    "Advancing on request: done  slot=11 tookSeconds=10",
    "Advancing on request  slot=13 slotsPerSecond=1 percent=50 remainingSeconds=2",
    "Advancing on request: done  slot=15 tookSeconds=4",
  ]);
});

it("distinguishes slots with duties, empty slots and slots started by the clock", async () => {
  const { time, clock, triggers } = scene();
  await time.advance({ slots: 3, staysEmpty: (slot) => slot === 2 });
  await time.skip({ slots: 1 });
  await clock.advanceTo(5);
  expect(triggers).toEqual(["1 advance", "2 skip", "3 advance", "4 skip", "5 flow"]);
});

it("skips up to the limit of empty epochs since the head, and no further", async () => {
  const { time, clock } = scene({ headSlot: 7, startSlot: 7 + MAX_EMPTY_SLOTS - 2 });
  const refusal =
    "more slots can be skipped before the next block: after 2048 epochs without votes all validators may be ejected. " +
    "To move time further, start the chain with longer slots: --slot-seconds, or slotSeconds in the library.";
  expect(await refusalOf(time.skip({ slots: 3 }))).toBe(`At most 2 ${refusal}`);
  await time.skip({ slots: 2 });
  expect(clock.currentSlot).toBe(7 + MAX_EMPTY_SLOTS);
  expect(await refusalOf(time.skip({ slots: 1 }))).toBe(`At most 0 ${refusal}`);
});

it("concurrent calls cannot exceed the limit together", async () => {
  const { time, clock } = scene({ startSlot: MAX_EMPTY_SLOTS - 2 });
  const [first, second] = await Promise.all([refusalOf(time.skip({ slots: 2 })), refusalOf(time.skip({ slots: 2 }))]);
  expect(first).toBe("none");
  expect(second).toMatch(/^At most 0 more slots/);
  expect(clock.currentSlot).toBe(MAX_EMPTY_SLOTS);
});

it("speed 0 pauses, any other starts the clock", async () => {
  const { time, clock, flows } = scene();
  expect(time.requestedFlow).toBeUndefined();
  await time.setSpeed(3);
  expect([clock.isFlowing, clock.speed, time.requestedFlow]).toEqual([true, 3, true]);
  await time.setSpeed(0);
  expect([clock.isFlowing, clock.speed, time.requestedFlow]).toEqual([false, 3, false]);
  await time.resume();
  await time.pause();
  expect([clock.isFlowing, clock.speed, time.requestedFlow]).toEqual([false, 3, false]);
  expect(flows).toEqual([3, 3]);
});

it("rejects all control of a clock that is not the chain's own", async () => {
  const fixedReason = "Other nodes follow the time of this chain.";
  const { time, clock, stored } = scene({ fixedReason });
  const calls = [
    () => time.advance({ slots: 1 }),
    () => time.skip({ slots: 1 }),
    () => time.skip({ slots: MAX_EMPTY_SLOTS + 1 }),
    () => time.pause(),
    () => time.resume(),
    () => time.setSpeed(2),
    () => time.whilePaused(async () => {}),
  ];
  for (const call of calls) expect(await refusalOf(call())).toBe(fixedReason);
  expect([clock.currentSlot, clock.isFlowing, time.requestedFlow, stored]).toEqual([0, false, undefined, []]);
});
