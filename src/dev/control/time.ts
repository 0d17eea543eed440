import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { ControlRefusal, type TimeControl } from "../../api/dev-control.ts";
import type { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import { SerialQueue } from "../../chain/serial-queue.ts";
import { MOST_EMPTY_EPOCHS } from "../empty-epochs.ts";

interface DevTimeParts {
  clock: VirtualClock;
  /** Why the time of the chain can neither be moved nor stop, as a whole sentence; undefined when it can. */
  fixedBy: string | undefined;
  /** Of the head. */
  headSlot(): Slot;
  /** Time begins to flow, or goes on at another speed. */
  onFlow(): void;
  /** Stores the slot where the clock stands. */
  keepSlot(slot: Slot): Promise<void>;
}

/** How the slots pass that are announced now: by themselves, or because somebody lets them pass. */
type Passing = "by-itself" | "advanced" | "skipped";

/** The time of a dev chain, for whoever moves it. */
export class DevTime implements TimeControl {
  readonly #parts: DevTimeParts;
  readonly #turns = new SerialQueue();
  #passing: Passing = "by-itself";
  #isToFlow: boolean | undefined;

  constructor(parts: DevTimeParts) {
    this.#parts = parts;
  }

  get passing(): Passing {
    return this.#passing;
  }

  /** Whether time is to flow, by who has said so last; undefined when nobody has. */
  get isToFlow(): boolean | undefined {
    return this.#isToFlow;
  }

  /** What is to be done to the chain while nobody else moves it. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  /**
   * The same while time stands still and what the current slot asked of validators is done. Rejects where time is not this
   * node's to stop.
   */
  atRest<T>(work: () => Promise<T>): Promise<T> {
    return this.inTurn(async () => {
      const { clock, fixedBy, onFlow, keepSlot } = this.#parts;
      if (fixedBy !== undefined) throw ControlRefusal.impossible(fixedBy);
      const wasFlowing = clock.isFlowing;
      if (wasFlowing) clock.pause();
      await clock.advanceTo(clock.currentSlot);
      const from = clock.currentSlot;
      try {
        return await work();
      } finally {
        if (clock.currentSlot !== from) await keepSlot(clock.currentSlot);
        if (wasFlowing) {
          clock.run();
          onFlow();
        }
      }
    });
  }

  advance({ slots, until, staysEmpty, signal }: Parameters<TimeControl["advance"]>[0]): Promise<void> {
    return this.atRest(async () => {
      const { clock } = this.#parts;
      for (let passed = 0; passed < slots && signal?.aborted !== true && until?.() !== true; passed++) {
        await this.passSlot(staysEmpty?.(clock.currentSlot + 1) ? "skipped" : "advanced");
      }
    });
  }

  async skip(passage: Parameters<TimeControl["skip"]>[0]): Promise<void> {
    const { clock, headSlot } = this.#parts;
    const left = Math.max(0, headSlot() + MOST_EMPTY_EPOCHS * SLOTS_PER_EPOCH - clock.currentSlot);
    if (passage.slots > left) {
      throw ControlRefusal.against(
        `At most ${left} more slots can be left empty before a block comes: in ${MOST_EMPTY_EPOCHS} epochs without votes ` +
          "validators lose so much that all of them may be ejected.",
      );
    }
    return this.advance({ ...passage, staysEmpty: () => true });
  }

  pause(): Promise<void> {
    return this.#flow(false);
  }

  resume(): Promise<void> {
    return this.#flow(true);
  }

  setSpeed(speed: number): Promise<void> {
    return this.#flow(speed > 0, speed);
  }

  /** Nothing needs to end for time to flow on or to stop. */
  #flow(isFlowing: boolean, speed = 0): Promise<void> {
    return this.inTurn(async () => {
      const { clock, fixedBy, onFlow } = this.#parts;
      if (fixedBy !== undefined) throw ControlRefusal.impossible(fixedBy);
      this.#isToFlow = isFlowing;
      if (clock.isFlowing) clock.pause();
      if (speed > 0) clock.setSpeed(speed);
      if (!isFlowing) return clock.advanceTo(clock.currentSlot);
      clock.run();
      onFlow();
    });
  }

  /** Goes through the next slot, with all that validators do in it unless it is skipped; for work that has time at rest. */
  async passSlot(how: Passing = "advanced"): Promise<void> {
    const { clock } = this.#parts;
    this.#passing = how;
    try {
      await clock.advanceTo(clock.currentSlot + 1);
    } finally {
      this.#passing = "by-itself";
    }
  }
}
