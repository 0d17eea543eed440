import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClockStoppedError } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

const GENESIS_TIME = 1_700_000_000;
const SECONDS_PER_SLOT = 6;
/** One slot takes 100 ms of real time. */
const SPEED = 60;
const SLOT_MS = 100;

/** A promise and its resolver. */
const gate = () => Promise.withResolvers<void>();

describe("VirtualClock", () => {
  const errors: unknown[] = [];
  let clock: VirtualClock;

  beforeEach(() => {
    vi.useFakeTimers();
    errors.length = 0;
    clock = new VirtualClock({
      genesisTime: GENESIS_TIME,
      secondsPerSlot: SECONDS_PER_SLOT,
      startSlot: 3,
      speed: SPEED,
      timeOfDay: { nowSeconds: () => GENESIS_TIME + 100 },
      onListenerError: (error) => errors.push(error),
    });
  });

  afterEach(async () => {
    void clock.stop();
    vi.useRealTimers();
  });

  describe("paused", () => {
    it("stands still at the start of its slot", async () => {
      await vi.advanceTimersByTimeAsync(10 * SLOT_MS);
      expect(clock.currentSlot).toBe(3);
      expect(clock.nowSeconds()).toBe(GENESIS_TIME + 18);
      expect(clock.offsetSeconds()).toBe(-82);
      expect(clock.currentSlotWithTolerance(SECONDS_PER_SLOT * 1000 - 1)).toBe(3);
      expect(clock.currentSlotWithTolerance(SECONDS_PER_SLOT * 1000)).toBe(4);
    });

    it("advances slot by slot, each after the listeners of the previous one", async () => {
      const log: string[] = [];
      clock.onSlot(async (slot) => {
        log.push(`begin ${slot} at ${clock.nowSeconds() - GENESIS_TIME}`);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        log.push(`end ${slot}`);
      });
      await clock.advanceTo(5);
      expect(log).toEqual(["begin 4 at 24", "end 4", "begin 5 at 30", "end 5"]);
      expect(clock.currentSlot).toBe(5);
    });

    it("resolves an advance only when the last listener has finished", async () => {
      const work = gate();
      clock.onSlot(() => work.promise);
      let advanced = false;
      const advance = clock.advanceTo(4).then(() => {
        advanced = true;
      });
      await vi.advanceTimersByTimeAsync(SLOT_MS * 50);
      expect(advanced).toBe(false);
      work.resolve();
      await advance;
    });

    it("jumps to times in the slot that listeners await", async () => {
      const log: string[] = [];
      clock.onSlot(async (slot) => {
        const start = clock.slotStartSeconds(slot);
        const note = (name: string) => log.push(`${name} ${slot} at ${clock.nowSeconds() - GENESIS_TIME}`);
        note("propose");
        await Promise.all([
          clock.untilTime(start + 4).then(() => note("aggregate")),
          clock.untilTime(start + 2).then(() => note("attest")),
        ]);
      });
      await clock.advanceTo(5);
      expect(log).toEqual([
        "propose 4 at 24",
        "attest 4 at 26",
        "aggregate 4 at 28",
        "propose 5 at 30",
        "attest 5 at 32",
        "aggregate 5 at 34",
      ]);
    });

    it("finishes the work of one listener before the time another awaits", async () => {
      const work = gate();
      const log: string[] = [];
      clock.onSlot(async () => {
        await work.promise;
        log.push(`worked until ${clock.nowSeconds() - GENESIS_TIME}`);
      });
      clock.onSlot(async (slot) => {
        await clock.untilTime(clock.slotStartSeconds(slot) + 2);
        log.push(`attest at ${clock.nowSeconds() - GENESIS_TIME}`);
      });
      const advance = clock.advanceTo(4);
      await vi.advanceTimersByTimeAsync(1);
      work.resolve();
      await advance;
      expect(log).toEqual(["worked until 24", "attest at 26"]);
    });

    it("reaches an awaited time on its own if another listener depends on it", async () => {
      const attested = gate();
      clock.onSlot(() => attested.promise);
      clock.onSlot(async (slot) => {
        await clock.untilTime(clock.slotStartSeconds(slot) + 3);
        attested.resolve();
      });
      const advance = clock.advanceTo(4);
      await vi.advanceTimersByTimeAsync(SLOT_MS / 2);
      await advance;
      expect(clock.nowSeconds()).toBe(GENESIS_TIME + 27);
    });

    it("resolves waits from outside when their slot is reached", async () => {
      const order: string[] = [];
      clock.onSlot((slot) => void order.push(`listener ${slot}`));
      const wait = clock.untilSlot(4).then(() => order.push("outsider"));
      await clock.advanceTo(4);
      await wait;
      expect(order).toEqual(["listener 4", "outsider"]);
    });

    it("rejects going back, advancing twice at once and advancing while running", async () => {
      await expect(clock.advanceTo(2)).rejects.toThrow("Cannot advance to slot 2");
      const first = clock.advanceTo(4);
      await expect(clock.advanceTo(5)).rejects.toThrow("this one is advancing");
      await first;
      clock.run();
      await expect(clock.advanceTo(6)).rejects.toThrow("this one is running");
    });

    it("continues after a listener failed", async () => {
      clock.onSlot(async (slot) => {
        throw new Error(`slot ${slot}`);
      });
      await clock.advanceTo(5);
      expect(errors).toEqual([new Error("slot 4"), new Error("slot 5")]);
    });
  });

  describe("running", () => {
    it("starts within its slot if requested, and makes up late slots with keepTimetable", async () => {
      const work = gate();
      clock.onSlot((slot) => (slot === 4 ? work.promise : undefined));
      clock.run({ fromSeconds: GENESIS_TIME + 21, keepTimetable: true });
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + 21, 3);
      await vi.advanceTimersByTimeAsync(3 * SLOT_MS);
      expect(clock.currentSlot).toBe(4);
      work.resolve();
      await vi.advanceTimersByTimeAsync(1);
      await vi.advanceTimersByTimeAsync(SLOT_MS / 10);
      expect(clock.currentSlot).toBe(6);
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + 21 + (3 * SLOT_MS + 1 + SLOT_MS / 10) * (SPEED / 1000), 1);
    });

    it("starts from the given time, also if the slot was further along while paused", async () => {
      const begun: [slot: number, realMs: number][] = [];
      const off = clock.onSlot((slot) => clock.untilTime(clock.slotStartSeconds(slot) + 4));
      await clock.advanceTo(4);
      off();
      expect(clock.nowSeconds()).toBe(GENESIS_TIME + 28);
      const start = Date.now();
      clock.onSlot((slot) => void begun.push([slot, Date.now() - start]));
      clock.run({ fromSeconds: GENESIS_TIME + 25, keepTimetable: true });
      await vi.advanceTimersByTimeAsync(2 * SLOT_MS);
      // Five seconds remain in the slot, each lasting a sixth of SLOT_MS.
      expect(begun).toEqual([
        [5, 84],
        [6, 184],
      ]);
    });

    it("announces slots missed during sleep with keepTimetable", async () => {
      const slots: number[] = [];
      clock.onSlot((slot) => void slots.push(slot));
      clock.run({ keepTimetable: true });
      // While a machine sleeps, its timers stop but the wall clock does not.
      vi.setSystemTime(Date.now() + 5.5 * SLOT_MS);
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      await vi.advanceTimersByTimeAsync(SLOT_MS / 10);
      expect(slots).toEqual([4, 5, 6, 7, 8, 9]);
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + (3 + 6.6) * SECONDS_PER_SLOT, 1);
      vi.setSystemTime(Date.now() - 5 * SLOT_MS);
      expect(clock.nowSeconds()).toBeGreaterThanOrEqual(clock.slotStartSeconds(9));
    });

    it("skips missed slots after sleep with skipMissed, and follows the wall clock back", async () => {
      const slots: number[] = [];
      clock.onSlot((slot) => void slots.push(slot));
      clock.run({ keepTimetable: true, skipMissed: true });
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      vi.setSystemTime(Date.now() + 5.5 * SLOT_MS);
      await vi.advanceTimersByTimeAsync(1.6 * SLOT_MS);
      expect(slots).toEqual([4, 10, 11]);
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + (3 + 8.1) * SECONDS_PER_SLOT, 1);
      vi.setSystemTime(Date.now() - 5 * SLOT_MS);
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      expect(slots).toEqual([4, 10, 11, 7]);
    });

    it("checks for a suspension before announcing a slot", async () => {
      const log: string[] = [];
      const watched = new VirtualClock({
        genesisTime: GENESIS_TIME,
        secondsPerSlot: SECONDS_PER_SLOT,
        startSlot: 3,
        speed: SPEED,
        onListenerError: (error) => errors.push(error),
        suspensions: { check: () => log.push("check") },
      });
      watched.onSlot((slot) => void log.push(`slot ${slot}`));
      watched.run();
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      expect(log).toEqual(["check", "slot 4"]);
      await watched.stop();
    });

    it("stops catching up when a jump of the wall clock is undone", async () => {
      const slots: number[] = [];
      const work = gate();
      clock.onSlot((slot) => {
        slots.push(slot);
        return slot === 5 ? work.promise : undefined;
      });
      clock.run({ keepTimetable: true });
      vi.setSystemTime(Date.now() + 600 * SLOT_MS);
      await vi.advanceTimersByTimeAsync(1.25 * SLOT_MS);
      expect(slots).toEqual([4, 5]);
      vi.setSystemTime(Date.now() - 600 * SLOT_MS);
      work.resolve();
      await vi.advanceTimersByTimeAsync(2.25 * SLOT_MS);
      expect(slots).toEqual([4, 5, 6]);
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + (3 + 3.5) * SECONDS_PER_SLOT, 1);
    });

    it("runs at its speed", async () => {
      const slots: number[] = [];
      clock.onSlot((slot) => void slots.push(slot));
      clock.run();
      await vi.advanceTimersByTimeAsync(SLOT_MS / 2);
      expect(clock.nowSeconds()).toBeCloseTo(GENESIS_TIME + 21, 3);
      await vi.advanceTimersByTimeAsync(SLOT_MS / 2 + 9 * SLOT_MS);
      expect(slots).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
      expect(clock.currentSlot).toBe(13);
    });

    it("wakes rarely while slots are longer than any timer", async () => {
      clock.setSpeed(SPEED / 1e9);
      clock.run();
      const from = Date.now();
      vi.advanceTimersToNextTimer();
      expect(Date.now() - from).toBeGreaterThan(SLOT_MS);
    });

    it("resolves waits for times inside slots", async () => {
      const moments: number[] = [];
      clock.onSlot(async (slot) => {
        await clock.untilTime(clock.slotStartSeconds(slot) + 3);
        moments.push(clock.nowSeconds() - clock.slotStartSeconds(slot));
      });
      clock.run();
      await vi.advanceTimersByTimeAsync(3 * SLOT_MS + SLOT_MS / 2 + 1);
      expect(moments).toHaveLength(3);
      for (const moment of moments) expect(moment).toBeCloseTo(3, 1);
    });

    it("falls behind instead of skipping or overlapping slots", async () => {
      const work = gate();
      const log: string[] = [];
      clock.onSlot(async (slot) => {
        log.push(`begin ${slot}`);
        if (slot === 4) await work.promise;
        log.push(`end ${slot}`);
      });
      clock.run();
      await vi.advanceTimersByTimeAsync(5 * SLOT_MS);
      expect(log).toEqual(["begin 4"]);
      expect(clock.currentSlot).toBe(4);
      expect(clock.nowSeconds()).toBeLessThan(clock.slotStartSeconds(5));
      expect(clock.nowSeconds()).toBeGreaterThan(clock.slotStartSeconds(5) - 0.001);
      work.resolve();
      await vi.advanceTimersByTimeAsync(1);
      expect(log).toEqual(["begin 4", "end 4", "begin 5", "end 5"]);
      expect(clock.nowSeconds()).toBeLessThan(clock.slotStartSeconds(5) + 0.1);
      await vi.advanceTimersByTimeAsync(SLOT_MS - 2);
      expect(clock.currentSlot).toBe(5);
      await vi.advanceTimersByTimeAsync(2);
      expect(clock.currentSlot).toBe(6);
    });

    it("keeps the timetable if a slot starts slightly late", async () => {
      const work = gate();
      clock.onSlot((slot) => (slot === 4 ? work.promise : undefined));
      clock.run();
      await vi.advanceTimersByTimeAsync(2 * SLOT_MS + 5);
      expect(clock.currentSlot).toBe(4);
      work.resolve();
      await vi.advanceTimersByTimeAsync(1);
      expect(clock.currentSlot).toBe(5);
      await vi.advanceTimersByTimeAsync(SLOT_MS - 7);
      expect(clock.currentSlot).toBe(5);
      await vi.advanceTimersByTimeAsync(2);
      expect(clock.currentSlot).toBe(6);
    });

    it("stops: rejects waits, announces no slot, time stands still", async () => {
      const slots: number[] = [];
      clock.onSlot((slot) => void slots.push(slot));
      clock.run();
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      const wait = clock.untilSlot(100);
      const stopped = clock.stop();
      await expect(wait).rejects.toThrow(ClockStoppedError);
      await stopped;
      const stoppedAt = clock.nowSeconds();
      await vi.advanceTimersByTimeAsync(10 * SLOT_MS);
      expect(slots).toEqual([4]);
      expect(clock.nowSeconds()).toBe(stoppedAt);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("stop() ends waiting listeners and waits for busy ones", async () => {
      const work = gate();
      clock.onSlot((slot) => clock.untilTime(clock.slotStartSeconds(slot) + 5));
      clock.onSlot(() => work.promise);
      clock.run();
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      let stopped = false;
      const stopping = clock.stop().then(() => {
        stopped = true;
      });
      await vi.advanceTimersByTimeAsync(SLOT_MS);
      expect(errors).toEqual([new ClockStoppedError()]);
      expect(stopped).toBe(false);
      work.resolve();
      await stopping;
    });

    it("rejects an interrupted advance", async () => {
      clock.onSlot(() => void clock.stop());
      await expect(clock.advanceTo(9)).rejects.toThrow(ClockStoppedError);
      expect(clock.currentSlot).toBe(4);
    });
  });
});
