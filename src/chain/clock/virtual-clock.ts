import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch, Slot } from "@lodestar/types";
import {
  type Clock,
  ClockStoppedError,
  type ListenerErrorHandler,
  LONGEST_TIMER_MS,
  type SlotListener,
  SlotListeners,
  SlotTime,
} from "./clock.ts";
import { type JumpListener, JumpWatch } from "./jump-watch.ts";
import type { SuspensionWatch } from "./suspension-watch.ts";
import { TIME_OF_DAY, type TimeOfDay } from "./time-of-day.ts";
import { TimeWaiters } from "./time-waiters.ts";

/** Chain time stays this far below the next slot until that slot is announced: well above a double's resolution there. */
const END_OF_SLOT_SECONDS = 1e-5;

/**
 * The part of a slot by which its announcement may be late and still keep the timetable, so that the jitter of timers
 * does not slow the chain down. A slot that is later than that begins anew, with all of its time ahead of it.
 */
const TOLERATED_LATENESS = 1 / 8;

type Mode = "paused" | "advancing" | "running" | "stopped";

interface VirtualClockOptions {
  genesisTime: number;
  secondsPerSlot: number;
  /** The clock starts at rest at the beginning of this slot. */
  startSlot: Slot;
  /** Seconds of chain time in one second of real time. */
  speed: number;
  /** By default that of the machine. */
  timeOfDay?: TimeOfDay;
  onListenerError: ListenerErrorHandler;
  /** Told of jumps of the time of day while the clock keeps its timetable by it. */
  onJump?: JumpListener;
  /** Checked before slots are announced. */
  suspensions?: Pick<SuspensionWatch, "check">;
}

interface RunOptions {
  fromSeconds?: number;
  keepTimetable?: boolean;
  /** Skips slots that have passed, as `WallClock` does. Needs `keepTimetable`. */
  skipMissed?: boolean;
}

/**
 * The clock of a dev chain. Every slot is announced, one after the other: a slot begins only when the listeners of the
 * one before it have finished, so when they take longer than a slot, chain time slips behind instead of skipping slots.
 * Only with `skipMissed`, for a chain that others go on with, slots that have passed are not announced.
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
  #jumps: JumpWatch | undefined;
  #speed: number;
  #mode: Mode = "paused";
  #slot: Slot;
  /** Chain time was this … */
  #baseSeconds: number;
  /** … when the real time was that. Without meaning unless running. */
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
    const waiting = this.#waiters.wait(chainSeconds, signal);
    this.#waiters.release(this.nowSeconds());
    return waiting;
  }

  /**
   * Lets time flow, from where it stands or from another moment of the slot, which may be one that it has jumped over. A clock that
   * keeps its timetable makes up for late slots with shorter ones.
   */
  run({ fromSeconds = this.#baseSeconds, keepTimetable = false, skipMissed = false }: RunOptions = {}): void {
    this.#require("paused", "run");
    this.#keepTimetable = keepTimetable;
    this.#skipMissed = skipMissed;
    if (keepTimetable) this.#jumps = new JumpWatch(this.secondsPerSlot / this.speed, this.#onJump);
    if (fromSeconds >= this.#slotTime.startOf(this.#slot)) this.#baseSeconds = Math.min(fromSeconds, this.#endOfSlot());
    this.#mode = "running";
    this.#baseRealMs = this.#realMs();
    this.#proceed();
  }

  /** Lets time stand still where it is. Who waits for a later moment waits on. */
  pause(): void {
    this.#require("running", "pause");
    this.#baseSeconds = this.nowSeconds();
    this.#mode = "paused";
    clearTimeout(this.#timer);
  }

  /** How fast time flows from now on, when it does. */
  setSpeed(speed: number): void {
    this.#baseSeconds = this.nowSeconds();
    this.#baseRealMs = this.#realMs();
    this.#speed = speed;
    this.#proceed();
  }

  /**
   * Goes through the slots up to the given one while the clock is at rest, and resolves when the listeners of the last
   * have finished; those of the slot where it stands finish first. Time stands still while listeners work; when all that have
   * not finished wait for a moment of their slot, time jumps there (see `#proceed`).
   */
  async advanceTo(slot: Slot): Promise<void> {
    this.#require("paused", "advance");
    if (slot < this.#slot) throw new Error(`The clock is at slot ${this.#slot} and cannot go back to slot ${slot}.`);
    this.#mode = "advancing";
    this.#proceed();
    await this.#slotWork;
    while (this.#mode === "advancing" && this.#slot < slot) {
      await this.#beginSlot(this.#slot + 1, this.#slotTime.startOf(this.#slot + 1));
    }
    if (this.#mode !== "advancing") throw new ClockStoppedError();
    this.#mode = "paused";
  }

  /** Returns the function that sets the clock to where it stands now; it is to be at rest then, with its slot's work done. */
  capture(): () => void {
    const [slot, seconds] = [this.#slot, this.nowSeconds()];
    return () => this.moveTo(slot, seconds);
  }

  /** Goes to another time, be it an earlier one, at rest and with its slot's work done. No slot is announced by this. */
  moveTo(slot: Slot, seconds = this.#slotTime.startOf(slot)): void {
    this.#require("paused", "be moved");
    this.#slot = slot;
    this.#baseSeconds = seconds;
  }

  /** Ends the clock for good; resolves when the listeners at work have finished, so a listener must not await it. */
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

  /** Where chain time would be if no slot ever waited for its listeners, nor the time of day was ever set back. */
  #timetableSeconds(): number {
    if (this.#mode !== "running") return this.#baseSeconds;
    return this.#baseSeconds + ((this.#realMs() - this.#baseRealMs) / 1000) * this.#speed;
  }

  /** A timetable that is kept is that of other nodes, who go by the time of day: it goes on while the machine sleeps. */
  #realMs(): number {
    return this.#keepTimetable ? Date.now() : performance.now();
  }

  #beginSlot(slot: Slot, atSeconds: number): Promise<unknown> {
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

  /** Sets the timer for whatever comes next; called after every change of what that could be. */
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
    this.#jumps?.look();
    const timetable = this.#timetableSeconds();
    const next = this.#nextSlot(timetable);
    const nextSlotStart = this.#slotTime.startOf(next);
    if (timetable >= nextSlotStart && this.#unfinishedListeners === 0) {
      const isOnTime = this.#keepTimetable || timetable - nextSlotStart <= this.secondsPerSlot * TOLERATED_LATENESS;
      // What the listeners do never rejects, and whoever has to wait for it finds it in slotWork.
      void this.#beginSlot(next, isOnTime ? timetable : nextSlotStart);
      return;
    }
    this.#waiters.release(this.nowSeconds());
    this.#proceed();
  }

  /** Like `WallClock`, a clock that skips slots also goes back when the time of day is set back by more than a slot. */
  #nextSlot(timetable: number): Slot {
    const present = Math.max(0, this.#slotTime.slotAt(timetable));
    const isElsewhere = present > this.#slot + 1 || present + 1 < this.#slot;
    return this.#skipMissed && isElsewhere ? present : this.#slot + 1;
  }

  /**
   * Listeners that wait for a moment of their own slot would wait forever in a clock at rest. The moment comes when as
   * many wait as have not finished, which gives work that is under way the time to end first; and, in case a listener
   * waits for another listener instead of for the clock, at the latest after the real time it takes a running clock.
   */
  #proceedAdvancing(): void {
    const nextWaiter = this.#waiters.nextDue();
    if (this.#unfinishedListeners === 0 || nextWaiter > this.#endOfSlot()) return;
    this.#wakeAt(nextWaiter, () => this.#jumpTo(nextWaiter));
    // Not at once: whoever asked for this moment may be about to ask for an earlier one.
    queueMicrotask(() => {
      if (this.#mode === "advancing" && this.#unfinishedListeners > 0 && this.#allUnfinishedWait()) {
        this.#jumpTo(this.#waiters.nextDue());
      }
    });
  }

  #allUnfinishedWait(): boolean {
    const waiting = this.#waiters.countDueBy(this.#endOfSlot());
    return waiting > 0 && waiting >= this.#unfinishedListeners;
  }

  #jumpTo(seconds: number): void {
    this.#baseSeconds = Math.max(this.#baseSeconds, seconds);
    this.#waiters.release(this.#baseSeconds);
    this.#proceed();
  }

  #wakeAt(chainSeconds: number, action: () => void): void {
    const delayMs = ((chainSeconds - this.#timetableSeconds()) / this.#speed) * 1000;
    // Not for longer than a slot: the time of day may be set meanwhile.
    const longestMs = Math.min((this.secondsPerSlot / this.#speed) * 1000, LONGEST_TIMER_MS);
    this.#timer = setTimeout(action, Math.max(Math.ceil(Math.min(delayMs, longestMs)), 0));
  }
}
