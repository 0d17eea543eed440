import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch, Slot } from "@lodestar/types";
import {
  type Clock,
  type ListenerErrorHandler,
  MAX_TIMER_MS,
  type SlotListener,
  SlotListeners,
  SlotTime,
} from "./clock.ts";
import { ClockJumpDetector, type JumpListener } from "./clock-jump-detector.ts";
import type { SuspensionWatch } from "./suspension-watch.ts";
import { TimeWaiters } from "./time-waiters.ts";

interface WallClockOptions {
  genesisTime: number;
  secondsPerSlot: number;
  onListenerError: ListenerErrorHandler;
  onJump?: JumpListener;
  /** Checked before slots are announced. */
  suspensions?: Pick<SuspensionWatch, "check">;
}

/**
 * Clock of a network node: chain time is wall clock time. After a pause of the process, only the newest slot is
 * announced. If the wall clock is set back by more than a slot, slots are announced again.
 */
export class WallClock implements Clock {
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly speed = 1;
  readonly isFlowing = true;
  readonly #slotTime: SlotTime;
  readonly #listeners: SlotListeners;
  readonly #waiters: TimeWaiters;
  readonly #jumps: ClockJumpDetector;
  readonly #suspensions: Pick<SuspensionWatch, "check"> | undefined;
  #announcing = false;
  #announcedSlot = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor({ genesisTime, secondsPerSlot, onListenerError, onJump = () => {}, suspensions }: WallClockOptions) {
    this.genesisTime = genesisTime;
    this.secondsPerSlot = secondsPerSlot;
    this.#slotTime = new SlotTime(genesisTime, secondsPerSlot);
    this.#listeners = new SlotListeners(onListenerError);
    this.#waiters = new TimeWaiters(() => this.#setTimer());
    this.#jumps = new ClockJumpDetector(secondsPerSlot, onJump);
    this.#suspensions = suspensions;
  }

  get currentSlot(): Slot {
    return Math.max(0, this.#slotTime.slotAt(this.nowSeconds()));
  }

  get currentEpoch(): Epoch {
    return Math.floor(this.currentSlot / SLOTS_PER_EPOCH);
  }

  nowSeconds(): number {
    return Date.now() / 1000;
  }

  offsetSeconds(): number {
    return 0;
  }

  slotStartSeconds(slot: Slot): number {
    return this.#slotTime.startOf(slot);
  }

  currentSlotWithTolerance(toleranceMs: number): Slot {
    return Math.max(0, this.#slotTime.slotAt(this.nowSeconds() + toleranceMs / 1000));
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

  /** Starts announcing slots, beginning with the next one. */
  start(): void {
    this.#announcedSlot = this.#startedSlot();
    this.#announcing = true;
    this.#setTimer();
  }

  close(): void {
    this.#announcing = false;
    this.#waiters.stop();
    this.#setTimer();
  }

  /** Newest slot that has started; -1 before genesis, so that slot 0 is announced. */
  #startedSlot(): number {
    return Math.max(-1, this.#slotTime.slotAt(this.nowSeconds()));
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const nextSlotStart = this.#announcing ? this.#slotTime.startOf(this.#announcedSlot + 1) : Number.POSITIVE_INFINITY;
    const nextEvent = Math.min(nextSlotStart, this.#waiters.nextDue());
    if (nextEvent === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.ceil(nextEvent * 1000 - Date.now());
    this.#timer = setTimeout(() => this.#onTimer(), Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
  }

  /** Recomputes the slot from the current time, because timers can fire early or late and the wall clock can change. */
  #onTimer(): void {
    this.#suspensions?.check();
    this.#jumps.check();
    const slot = this.#startedSlot();
    const wasSetBack = slot + 1 < this.#announcedSlot;
    if (this.#announcing && (slot > this.#announcedSlot || wasSetBack)) {
      this.#announcedSlot = slot;
      void Promise.all(this.#listeners.call(slot));
    }
    this.#waiters.release(this.nowSeconds());
    this.#setTimer();
  }
}
