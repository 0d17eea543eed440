import type { Epoch, Slot } from "@lodestar/types";

/** Maximum speed of chain time. No machine can process slots this fast. */
export const MAX_SPEED = 1_000_000;

/** Node.js fires timers with a delay above 31 bits immediately, but genesis or the next slot can be further away. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export type SlotListener = (slot: Slot) => void | Promise<void>;

/** Called when a listener throws or rejects. A failing listener does not affect the clock or other listeners. */
export type ListenerErrorHandler = (error: unknown, slot: Slot) => void;

/**
 * Clock of the chain. All times are chain time in Unix seconds. On a public network, chain time is real time; on a dev
 * chain it can be faster, slower or paused.
 */
export interface Clock {
  /** Start of slot 0 in Unix seconds. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  /** Chain seconds per real second while running. */
  readonly speed: number;
  /** True if time advances on its own. */
  readonly isFlowing: boolean;
  /** 0 before genesis. */
  readonly currentSlot: Slot;
  /** 0 before genesis. */
  readonly currentEpoch: Epoch;
  /** Chain time in Unix seconds, including fractions. */
  nowSeconds(): number;
  /** Seconds by which chain time is ahead of the wall clock; negative if behind. */
  offsetSeconds(): number;
  slotStartSeconds(slot: Slot): number;
  /**
   * Returns the current slot on a clock running `toleranceMs` milliseconds of chain time ahead
   * (MAXIMUM_GOSSIP_CLOCK_DISPARITY).
   */
  currentSlotWithTolerance(toleranceMs: number): Slot;
  /**
   * Calls the listener at the start of each slot. Slots are announced once and in ascending order, unless the wall
   * clock is set back by more than a slot. The slot in which the clock starts is not announced. Returns an unsubscribe
   * function.
   *
   * A listener may wait for a later time in its own slot, but not for a later slot.
   */
  onSlot(listener: SlotListener): () => void;
  /**
   * Resolves when the slot starts, or immediately if it has already started. Slot 0 starts at genesis. Rejects with the
   * signal's reason on abort, and with a `ClockStoppedError` if the clock stops first.
   */
  untilSlot(slot: Slot, signal?: AbortSignal): Promise<void>;
  /** Like `untilSlot`, but for a chain time in Unix seconds. */
  untilTime(chainSeconds: number, signal?: AbortSignal): Promise<void>;
}

export class ClockStoppedError extends Error {
  constructor() {
    super("The clock was stopped before the awaited time.");
    this.name = "ClockStoppedError";
  }
}

/** Converts between slots and time: each slot lasts `SECONDS_PER_SLOT`, starting at `genesis_time` (fork-choice.md). */
export class SlotTime {
  readonly genesisTime: number;
  readonly secondsPerSlot: number;

  constructor(genesisTime: number, secondsPerSlot: number) {
    this.genesisTime = genesisTime;
    this.secondsPerSlot = secondsPerSlot;
  }

  startOf(slot: Slot): number {
    return this.genesisTime + slot * this.secondsPerSlot;
  }

  /** Returns the slot at the given time; negative before genesis. */
  slotAt(seconds: number): number {
    const slot = Math.floor((seconds - this.genesisTime) / this.secondsPerSlot);
    // With a fractional slot duration, rounding can put the result off by one.
    if (this.startOf(slot + 1) <= seconds) return slot + 1;
    if (this.startOf(slot) > seconds) return slot - 1;
    return slot;
  }
}

export class SlotListeners {
  readonly #listeners = new Set<{ listener: SlotListener }>();
  readonly #onError: ListenerErrorHandler;

  constructor(onError: ListenerErrorHandler) {
    this.#onError = onError;
  }

  add(listener: SlotListener): () => void {
    // One entry per subscription, since a function can be subscribed twice.
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Calls every listener. Returns one promise per listener, none of which rejects. */
  call(slot: Slot): Promise<void>[] {
    return [...this.#listeners].map(async ({ listener }) => {
      try {
        await listener(slot);
      } catch (error) {
        this.#onError(error, slot);
      }
    });
  }
}

/** Returns the duration of a slot in real time, used for engine and builder timeouts. */
export function slotMs({ secondsPerSlot, speed }: Pick<Clock, "secondsPerSlot" | "speed">): number {
  return (secondsPerSlot * 1000) / speed;
}
