import type { Epoch, Slot } from "@lodestar/types";

/** The most that chain time may be told to be faster than real time; no machine keeps up with it. */
export const MOST_SPEED = 1_000_000;

/** Node runs a timer at once when its delay does not fit in 31 bits; genesis or the next slot may be further away than that. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type SlotListener = (slot: Slot) => void | Promise<void>;

/** Told about a listener that threw or rejected: a failing listener never stops the clock or the other listeners. */
export type ListenerErrorHandler = (error: unknown, slot: Slot) => void;

/**
 * The time of the chain. All of it is *chain* time: unix seconds that flow as the clock decides, which for a node on a
 * network is real time and for a dev chain may be faster, slower or at rest.
 */
export interface Clock {
  /** Unix seconds of the start of slot 0. */
  readonly genesisTime: number;
  readonly secondsPerSlot: number;
  /** Seconds of chain time in one second of real time while it flows. */
  readonly speed: number;
  /** Whether time goes on by itself. */
  readonly isFlowing: boolean;
  /** Before genesis this is 0. */
  readonly currentSlot: Slot;
  /** Before genesis this is 0. */
  readonly currentEpoch: Epoch;
  /** Chain time in unix seconds, with a fraction. */
  nowSeconds(): number;
  /** Seconds by which chain time is ahead of the time of day; negative when it is behind. */
  offsetSeconds(): number;
  slotStartSeconds(slot: Slot): number;
  /**
   * The latest slot that counts as current when senders' clocks may be ahead of ours by the tolerance
   * (MAXIMUM_GOSSIP_CLOCK_DISPARITY in the p2p specification). The tolerance is in milliseconds of chain time.
   */
  currentSlotWithTolerance(toleranceMs: number): Slot;
  /**
   * Calls the listener at the start of slots, in ascending order and never twice for a slot, unless the time of day was set
   * back by more than a slot; the slot in which the clock starts is not announced. Returns the function that ends the
   * subscription.
   *
   * A listener may wait for a later moment of its own slot, but not for a later slot.
   */
  onSlot(listener: SlotListener): () => void;
  /**
   * Resolves once the slot has started (slot 0: at genesis), at once when it has already. Rejects with the signal's
   * reason when aborted and with `ClockStoppedError` when the clock stops first.
   */
  untilSlot(slot: Slot, signal?: AbortSignal): Promise<void>;
  /** As `untilSlot`, for a moment in chain time (unix seconds). */
  untilTime(chainSeconds: number, signal?: AbortSignal): Promise<void>;
}

export class ClockStoppedError extends Error {
  constructor() {
    super("The clock was stopped before the awaited time came.");
    this.name = "ClockStoppedError";
  }
}

/** How slots lie in time: `SECONDS_PER_SLOT` from `genesis_time` on (consensus specification, fork-choice.md). */
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

  /** The slot of a moment; negative before genesis. */
  slotAt(seconds: number): number {
    const slot = Math.floor((seconds - this.genesisTime) / this.secondsPerSlot);
    // With a fractional slot length the division may land one beside what startOf says; startOf decides.
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
    // An entry of its own for every subscription: the same function may be subscribed twice.
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Calls every listener now; one promise a listener, which settles with it and never rejects. */
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

/** How long a slot lasts in real time, in which engines and builders live. */
export function slotMs({ secondsPerSlot, speed }: Pick<Clock, "secondsPerSlot" | "speed">): number {
  return (secondsPerSlot * 1000) / speed;
}
