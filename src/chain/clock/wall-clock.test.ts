import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClockStoppedError } from "./clock.ts";
import { WallClock } from "./wall-clock.ts";

const GENESIS_TIME = 1_700_000_000;
const SECONDS_PER_SLOT = 6;

describe("WallClock", () => {
  const errors: unknown[] = [];
  const jumps: number[] = [];
  let clock: WallClock;

  const setTime = (secondsAfterGenesis: number) => vi.setSystemTime((GENESIS_TIME + secondsAfterGenesis) * 1000);
  const createClock = () =>
    new WallClock({
      genesisTime: GENESIS_TIME,
      secondsPerSlot: SECONDS_PER_SLOT,
      onListenerError: (error) => errors.push(error),
      onJump: (seconds) => jumps.push(seconds),
    });

  beforeEach(() => {
    vi.useFakeTimers();
    setTime(0);
    errors.length = 0;
    jumps.length = 0;
    clock = createClock();
  });

  afterEach(() => {
    clock.close();
    vi.useRealTimers();
  });

  it("returns the wall clock time", () => {
    setTime(4.5);
    expect(clock.nowSeconds()).toBe(GENESIS_TIME + 4.5);
    expect([clock.offsetSeconds(), clock.speed]).toEqual([0, 1]);
  });

  it("returns slot and epoch, 0 before genesis", () => {
    setTime(-1000);
    expect([clock.currentSlot, clock.currentEpoch]).toEqual([0, 0]);
    setTime(SECONDS_PER_SLOT * SLOTS_PER_EPOCH * 3 - 0.001);
    expect([clock.currentSlot, clock.currentEpoch]).toEqual([SLOTS_PER_EPOCH * 3 - 1, 2]);
    setTime(SECONDS_PER_SLOT * SLOTS_PER_EPOCH * 3);
    expect([clock.currentSlot, clock.currentEpoch]).toEqual([SLOTS_PER_EPOCH * 3, 3]);
  });

  it("applies a tolerance towards the next slot", () => {
    setTime(SECONDS_PER_SLOT * 2 - 0.5);
    expect(clock.currentSlotWithTolerance(499)).toBe(1);
    expect(clock.currentSlotWithTolerance(500)).toBe(2);
  });

  it("announces every slot from the next on, slot 0 at genesis", () => {
    setTime(-4);
    const slots: number[] = [];
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(3999);
    expect(slots).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(slots).toEqual([0]);
    vi.advanceTimersByTime(2 * SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([0, 1, 2]);
  });

  it("does not announce the slot in which it starts, even if that started after its creation", () => {
    setTime(SECONDS_PER_SLOT * 5 + 1);
    const slots: number[] = [];
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([6]);
  });

  it("waits for a genesis beyond the maximum timer delay", () => {
    const days = 60;
    setTime(-days * 86_400);
    const slots: number[] = [];
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(days * 86_400_000 - 1);
    expect(slots).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(slots).toEqual([0]);
  });

  it("announces only the newest slot after a late timer", () => {
    const slots: number[] = [];
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    // This does not move the timer, which still fires at 4 slots and 2 seconds.
    setTime(SECONDS_PER_SLOT * 3 + 2);
    vi.advanceTimersToNextTimer();
    expect(slots).toEqual([4]);
  });

  it("announces no slot twice if the wall clock is set back", () => {
    const slots: number[] = [];
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(2 * SECONDS_PER_SLOT * 1000);
    setTime(SECONDS_PER_SLOT);
    vi.advanceTimersByTime(2 * SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([1, 2, 3]);
    expect(jumps).toEqual([-SECONDS_PER_SLOT]);
  });

  it("follows a wall clock that jumps an hour ahead and back", () => {
    const slots: number[] = [];
    const hour = 3600;
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    setTime(SECONDS_PER_SLOT + hour);
    vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    setTime(2 * SECONDS_PER_SLOT);
    vi.advanceTimersByTime(3 * SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([1, 602, 3, 4, 5]);
    expect(jumps).toEqual([hour, -hour]);
  });

  it("does not report late timers or slewing as a jump", () => {
    clock.start();
    for (let slot = 1; slot <= 20; slot++) {
      setTime(slot * SECONDS_PER_SLOT - 0.2 * slot);
      vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    }
    expect(jumps).toEqual([]);
  });

  it("reports failing listeners and calls the others", async () => {
    const slots: number[] = [];
    clock.onSlot(() => {
      throw new Error("thrown");
    });
    clock.onSlot(async () => {
      throw new Error("rejected");
    });
    clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    await vi.advanceTimersByTimeAsync(SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([1]);
    expect(errors).toEqual([new Error("thrown"), new Error("rejected")]);
  });

  it("does not call a listener after its subscription ended", () => {
    const slots: number[] = [];
    const unsubscribe = clock.onSlot((slot) => void slots.push(slot));
    clock.start();
    vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    unsubscribe();
    vi.advanceTimersByTime(SECONDS_PER_SLOT * 1000);
    expect(slots).toEqual([1]);
  });

  it("resolves waits in order of due time", async () => {
    const order: string[] = [];
    const waits = [
      clock.untilSlot(2).then(() => order.push("slot 2")),
      clock.untilTime(GENESIS_TIME + 8).then(() => order.push("8 s")),
      clock.untilSlot(0).then(() => order.push("slot 0")),
    ];
    await vi.advanceTimersByTimeAsync(7999);
    expect(order).toEqual(["slot 0"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual(["slot 0", "8 s"]);
    await vi.advanceTimersByTimeAsync(4000);
    await Promise.all(waits);
    expect(order).toEqual(["slot 0", "8 s", "slot 2"]);
  });

  it("waits for genesis for slot 0", async () => {
    setTime(-10);
    let started = false;
    const wait = clock.untilSlot(0).then(() => {
      started = true;
    });
    await vi.advanceTimersByTimeAsync(9999);
    expect(started).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
  });

  it("rejects a wait with the abort reason and leaves no timer", async () => {
    const abort = new AbortController();
    const wait = clock.untilSlot(9, abort.signal);
    abort.abort(new Error("no longer needed"));
    await expect(wait).rejects.toThrow("no longer needed");
    await expect(clock.untilSlot(9, abort.signal)).rejects.toThrow("no longer needed");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("rejects waits when closed and leaves no timer", async () => {
    clock.start();
    const wait = clock.untilSlot(9);
    clock.close();
    await expect(wait).rejects.toThrow(ClockStoppedError);
    await expect(clock.untilSlot(9)).rejects.toThrow(ClockStoppedError);
    expect(vi.getTimerCount()).toBe(0);
  });
});
