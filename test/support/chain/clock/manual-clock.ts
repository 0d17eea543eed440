import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { type Clock, type SlotListener, SlotTime } from "../../../../src/chain/clock/clock.ts";

interface Waiter {
  at: number;
  resolve: () => void;
}

/** Clock that tests advance manually. */
export class ManualClock implements Clock {
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  readonly isFlowing = true;
  readonly speed: number;
  readonly #slotTime: SlotTime;
  #now: number;
  #waiters: Waiter[] = [];
  #onWait: () => void = () => {};

  constructor(genesisTime: number, secondsPerSlot: number, speed = 1) {
    this.speed = speed;
    this.genesisTime = genesisTime;
    this.secondsPerSlot = secondsPerSlot;
    this.#slotTime = new SlotTime(genesisTime, secondsPerSlot);
    this.#now = genesisTime;
  }

  get currentSlot(): Slot {
    return this.currentSlotWithTolerance(0);
  }

  get currentEpoch() {
    return computeEpochAtSlot(this.currentSlot);
  }

  nowSeconds(): number {
    return this.#now;
  }

  offsetSeconds(): number {
    return 0;
  }

  slotStartSeconds(slot: Slot): number {
    return this.#slotTime.startOf(slot);
  }

  currentSlotWithTolerance(toleranceMs: number): Slot {
    return Math.max(0, this.#slotTime.slotAt(this.#now + toleranceMs / 1000));
  }

  onSlot(_listener: SlotListener): () => void {
    throw new Error("The manual clock announces no slots. Call the validators directly.");
  }

  untilSlot(slot: Slot, signal?: AbortSignal): Promise<void> {
    return this.untilTime(this.slotStartSeconds(slot), signal);
  }

  async untilTime(chainSeconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (chainSeconds <= this.#now) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { at: chainSeconds, resolve };
    this.#waiters.push(waiter);
    signal?.addEventListener("abort", () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      reject(signal.reason);
    });
    this.#onWait();
    await promise;
  }

  /** Resolves once a caller waits for this time. */
  async untilAwaited(chainSeconds: number): Promise<void> {
    while (!this.#waiters.some(({ at }) => at === chainSeconds)) {
      await new Promise<void>((resolve) => {
        this.#onWait = resolve;
      });
    }
  }

  /** Sets the time within a slot. */
  set(slot: Slot, offsetMs = 0): void {
    this.advanceTo(this.slotStartSeconds(slot) + offsetMs / 1000);
  }

  advanceTo(chainSeconds: number): void {
    this.#now = chainSeconds;
    const due = this.#waiters.filter(({ at }) => at <= chainSeconds);
    this.#waiters = this.#waiters.filter(({ at }) => at > chainSeconds);
    for (const { resolve } of due) resolve();
  }
}
