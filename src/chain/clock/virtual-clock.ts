import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch, Slot } from "@lodestar/types";
import {
  type Clock,
  ClockStoppedError,
  type ListenerErrorHandler,
  MAX_TIMER_MS,
  type SlotListener,
  SlotListeners,
  SlotTime,
} from "./clock.ts";
import { ClockJumpDetector, type JumpListener } from "./clock-jump-detector.ts";
import type { SuspensionWatch } from "./suspension-watch.ts";
import { TIME_OF_DAY, type TimeOfDay } from "./time-of-day.ts";
import { TimeWaiters } from "./time-waiters.ts";

/**
 * Chain time stops this long before the next slot until that slot is announced. Well above the precision of a double.
 */
const END_OF_SLOT_SECONDS = 1e-5;

/**
 * Announcements may be late by this share of a slot without slowing the chain down, which absorbs timer jitter. A slot
 * announced even later gets its full duration.
 */
const TOLERATED_LATENESS = 1 / 8;

type Mode = "paused" | "advancing" | "running" | "stopped";

interface VirtualClockOptions {
  genesisTime: number;
  secondsPerSlot: number;
  /** The clock starts out paused, at the start of this slot. */
  startSlot: Slot;
  /** Chain seconds per real second. */
  speed: number;
  /** Defaults to the system clock. */
  timeOfDay?: TimeOfDay;
  onListenerError: ListenerErrorHandler;
  /** Called when the wall clock jumps while `keepTimetable` is set. */
  onJump?: JumpListener;
  /** Checked before slots are announced. */
  suspensions?: Pick<SuspensionWatch, "check">;
}

interface RunOptions {
  fromSeconds?: number;
  keepTimetable?: boolean;
  /** Skips missed slots, like `WallClock`. Requires `keepTimetable`. */
  skipMissed?: boolean;
}

/**
 * Clock of a dev chain. Announces every slot in sequence: a slot starts only after the listeners of the previous one
 * have finished. If they take longer than a slot, chain time falls behind and no slot is skipped. With `skipMissed`,
 * the clock skips missed slots instead, for chains shared with other nodes.
 */
export class VirtualClock implements Clock {
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly #timeOfDay: TimeOfDay;
  readonly #slotTime: SlotTime;
  readonly #listeners: SlotListeners;
  readonly #waiters: TimeWaiters;
  readonly #onJump: JumpListener;
  readonly #suspensions: Pick<SuspensionWatch, "check"> | undefined;
  #jumps: ClockJumpDetector | undefined;
  #speed: number;
  #mode: Mode = "paused";
  #slot: Slot;
  /** Chain time at `#baseRealMs`. */
  #baseSeconds: number;
  /** Real time at `#baseSeconds`. Only valid while running. */
  #baseRealMs = 0;
  #keepTimetable = false;
  #skipMissed = false;
  #unfinishedListeners = 0;
  #slotWork: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VirtualClockOptions) {
    const { genesisTime, secondsPerSlot, startSlot, speed, timeOfDay = TIME_OF_DAY, onListenerError, onJump } = options;
    this.genesisTime = genesisTime;
    this.secondsPerSlot = secondsPerSlot;
    this.#speed = speed;
    this.#timeOfDay = timeOfDay;
    this.#slotTime = new SlotTime(genesisTime, secondsPerSlot);
    this.#listeners = new SlotListeners(onListenerError);
    this.#waiters = new TimeWaiters(() => this.#proceed());
    this.#onJump = onJump ?? (() => {});
    this.#suspensions = options.suspensions;
    this.#slot = startSlot;
    this.#baseSeconds = this.#slotTime.startOf(startSlot);
  }

  get speed(): number {
    return this.#speed;
  }

  get isFlowing(): boolean {
    return this.#mode === "running";
  }

  get currentSlot(): Slot {
    return this.#slot;
  }

  get currentEpoch(): Epoch {
    return Math.floor(this.#slot / SLOTS_PER_EPOCH);
  }

  nowSeconds(): number {
    return Math.min(Math.max(this.#timetableSeconds(), this.#slotTime.startOf(this.#slot)), this.#endOfSlot());
  }

  offsetSeconds(): number {
    return this.nowSeconds() - this.#timeOfDay.nowSeconds();
  }

  slotStartSeconds(slot: Slot): number {
    return this.#slotTime.startOf(slot);
  }

  currentSlotWithTolerance(toleranceMs: number): Slot {
    return this.#slotTime.slotAt(this.nowSeconds() + toleranceMs / 1000);
  }

  onSlot(listener: SlotListener): () => void {
    return this.#listeners.add(listener);
  }

  untilSlot(slot: Slot, signal?: AbortSignal): Promise<void> {
    return this.untilTime(this.#slotTime.startOf(slot), signal);
  }

  untilTime(chainSeconds: number, signal?: AbortSignal): Promise<void> {
    const promise = this.#waiters.wait(chainSeconds, signal);
    this.#waiters.release(this.nowSeconds());
    return promise;
  }

  /**
   * Starts time at the current time or at another time in the current slot. With `keepTimetable`, a late slot is
   * followed by shorter ones until the clock has caught up.
   */
  run({ fromSeconds = this.#baseSeconds, keepTimetable = false, skipMissed = false }: RunOptions = {}): void {
    this.#require("paused", "run");
    this.#keepTimetable = keepTimetable;
    this.#skipMissed = skipMissed;
    if (keepTimetable) this.#jumps = new ClockJumpDetector(this.secondsPerSlot / this.speed, this.#onJump);
    if (fromSeconds >= this.#slotTime.startOf(this.#slot)) this.#baseSeconds = Math.min(fromSeconds, this.#endOfSlot());
    this.#mode = "running";
    this.#baseRealMs = this.#realMs();
    this.#proceed();
  }

  /** Stops time. Pending waiters stay pending. */
  pause(): void {
    this.#require("running", "pause");
    this.#baseSeconds = this.nowSeconds();
    this.#mode = "paused";
    clearTimeout(this.#timer);
  }

  setSpeed(speed: number): void {
    this.#baseSeconds = this.nowSeconds();
    this.#baseRealMs = this.#realMs();
    this.#speed = speed;
    this.#proceed();
  }

  /**
   * Advances a paused clock slot by slot. Resolves when the listeners of the last slot have finished. Time stands still
   * while listeners work. If all unfinished listeners are waiting for a time in their slot, the clock jumps there (see
   * `#proceed`).
   */
  async advanceTo(slot: Slot): Promise<void> {
    this.#require("paused", "advance");
    if (slot < this.#slot)
      throw new Error(`Cannot advance to slot ${slot}: the clock is already at slot ${this.#slot}.`);
    this.#mode = "advancing";
    this.#proceed();
    await this.#slotWork;
    while (this.#mode === "advancing" && this.#slot < slot) {
      await this.#startSlot(this.#slot + 1, this.#slotTime.startOf(this.#slot + 1));
    }
    if (this.#mode !== "advancing") throw new ClockStoppedError();
    this.#mode = "paused";
  }

  /**
   * Returns a function that resets the clock to the current time. The clock must be paused and idle during the reset.
   */
  capture(): () => void {
    const [slot, seconds] = [this.#slot, this.nowSeconds()];
    return () => this.moveTo(slot, seconds);
  }

  /** Moves a paused, idle clock forwards or backwards without announcing a slot. */
  moveTo(slot: Slot, seconds = this.#slotTime.startOf(slot)): void {
    this.#require("paused", "be moved");
    this.#slot = slot;
    this.#baseSeconds = seconds;
  }

  /** Stops the clock permanently. Resolves when running listeners have finished, so listeners must not await it. */
  async stop(): Promise<void> {
    this.#baseSeconds = this.nowSeconds();
    this.#mode = "stopped";
    this.#waiters.stop();
    this.#proceed();
    await this.#slotWork;
  }

  #require(mode: "running" | "paused", action: string): void {
    if (this.#mode === "stopped") throw new ClockStoppedError();
    if (this.#mode !== mode) throw new Error(`Only a ${mode} clock can ${action}; this one is ${this.#mode}.`);
  }

  #endOfSlot(): number {
    return this.#slotTime.startOf(this.#slot + 1) - END_OF_SLOT_SECONDS;
  }

  /** Chain time as if listeners caused no delay and the wall clock never jumped back. */
  #timetableSeconds(): number {
    if (this.#mode !== "running") return this.#baseSeconds;
    return this.#baseSeconds + ((this.#realMs() - this.#baseRealMs) / 1000) * this.#speed;
  }

  /** With `keepTimetable`, follows the wall clock, as other nodes do, even while the machine sleeps. */
  #realMs(): number {
    return this.#keepTimetable ? Date.now() : performance.now();
  }

  #startSlot(slot: Slot, atSeconds: number): Promise<unknown> {
    this.#slot = slot;
    this.#baseSeconds = atSeconds;
    this.#baseRealMs = this.#realMs();
    const calls = this.#listeners.call(slot);
    this.#unfinishedListeners = calls.length;
    this.#slotWork = Promise.all(
      calls.map(async (call) => {
        await call;
        this.#unfinishedListeners--;
        this.#proceed();
      }),
    );
    this.#waiters.release(this.nowSeconds());
    this.#proceed();
    return this.#slotWork;
  }

  /** Schedules the next event. Called after each relevant change. */
  #proceed(): void {
    clearTimeout(this.#timer);
    if (this.#mode === "running") this.#proceedRunning();
    if (this.#mode === "advancing") this.#proceedAdvancing();
  }

  #proceedRunning(): void {
    if (this.#unfinishedListeners === 0) {
      this.#wakeAt(Math.min(this.#waiters.nextDue(), this.#slotTime.startOf(this.#slot + 1)), () =>
        this.#onRunningTimer(),
      );
    } else if (this.#waiters.nextDue() <= this.#endOfSlot()) {
      this.#wakeAt(this.#waiters.nextDue(), () => this.#onRunningTimer());
    }
  }

  #onRunningTimer(): void {
    this.#suspensions?.check();
    this.#jumps?.check();
    const timetable = this.#timetableSeconds();
    const next = this.#nextSlot(timetable);
    const nextSlotStart = this.#slotTime.startOf(next);
    if (timetable >= nextSlotStart && this.#unfinishedListeners === 0) {
      const isOnTime = this.#keepTimetable || timetable - nextSlotStart <= this.secondsPerSlot * TOLERATED_LATENESS;
      // The listeners' promises never reject; `#slotWork` tracks them.
      void this.#startSlot(next, isOnTime ? timetable : nextSlotStart);
      return;
    }
    this.#waiters.release(this.nowSeconds());
    this.#proceed();
  }

  /** Like `WallClock`, goes back if the wall clock was set back by more than a slot. */
  #nextSlot(timetable: number): Slot {
    const present = Math.max(0, this.#slotTime.slotAt(timetable));
    const isElsewhere = present > this.#slot + 1 || present + 1 < this.#slot;
    return this.#skipMissed && isElsewhere ? present : this.#slot + 1;
  }

  /**
   * On a paused clock, listeners awaiting a time in their slot would wait forever. Jumps to that time once there are as
   * many waiters as unfinished listeners, which lets running work finish first. If a listener waits for another
   * listener, jumps after as much real time as a running clock would need.
   */
  #proceedAdvancing(): void {
    const nextWaiter = this.#waiters.nextDue();
    if (this.#unfinishedListeners === 0 || nextWaiter > this.#endOfSlot()) return;
    this.#wakeAt(nextWaiter, () => this.#jumpTo(nextWaiter));
    // Deferred, because an earlier time may still be requested in the same turn.
    queueMicrotask(() => {
      if (this.#mode === "advancing" && this.#unfinishedListeners > 0 && this.#allUnfinishedWait()) {
        this.#jumpTo(this.#waiters.nextDue());
      }
    });
  }

  #allUnfinishedWait(): boolean {
    const waiterCount = this.#waiters.countDueBy(this.#endOfSlot());
    return waiterCount > 0 && waiterCount >= this.#unfinishedListeners;
  }

  #jumpTo(seconds: number): void {
    this.#baseSeconds = Math.max(this.#baseSeconds, seconds);
    this.#waiters.release(this.#baseSeconds);
    this.#proceed();
  }

  #wakeAt(chainSeconds: number, action: () => void): void {
    const delayMs = ((chainSeconds - this.#timetableSeconds()) / this.#speed) * 1000;
    // Wait for at most one slot, since the wall clock may change.
    const longestMs = Math.min((this.secondsPerSlot / this.#speed) * 1000, MAX_TIMER_MS);
    this.#timer = setTimeout(action, Math.max(Math.ceil(Math.min(delayMs, longestMs)), 0));
  }
}
