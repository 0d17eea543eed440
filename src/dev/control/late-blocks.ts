import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import { ControlError, type Delay, type DelayOptions, type LateBlockControl } from "../../api/dev-control.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { BlockDelay } from "../validators/duty-plan.ts";
import type { DevTime } from "./time.ts";

/** Longest delay, in thousandths of a slot. Any closer to the end, the block might arrive in the next slot. */
const LATEST_PER_MILLE = 990;

interface DevLateBlocksParts {
  clock: Clock;
  config: BeaconConfig;
  time: DevTime;
}

/** Delays the blocks of upcoming slots past the attestation deadline. */
export class DevLateBlocks implements LateBlockControl {
  readonly #parts: DevLateBlocksParts;
  #delay: Delay | undefined;

  constructor(parts: DevLateBlocksParts) {
    this.#parts = parts;
  }

  capture(): () => void {
    const delay = this.#delay;
    return () => {
      this.#delay = delay;
    };
  }

  delayAt(slot: Slot): BlockDelay | undefined {
    if (!this.#delay || slot < this.#delay.fromSlot || slot >= this.#delay.untilSlot) return undefined;
    return { slots: this.#delay.slotsLate, seconds: this.#delay.seconds };
  }

  /** True if the block of this slot or a later one is late, or one has yet to arrive. */
  get isPending(): boolean {
    const { fromSlot, untilSlot, slotsLate } = this.#delay ?? { fromSlot: 0, untilSlot: 0, slotsLate: 0 };
    return fromSlot < untilSlot && this.#parts.clock.currentSlot < untilSlot + slotsLate;
  }

  delay({ slots, slotsLate, seconds }: DelayOptions): Promise<Delay> {
    const { clock, config, time } = this.#parts;
    const attestationDue = config.getAttestationDueMs(config.getForkName(clock.currentSlot)) / 1000;
    const latest = Math.floor(clock.secondsPerSlot * LATEST_PER_MILLE) / 1000;
    if (seconds !== undefined && (seconds < attestationDue || seconds > latest)) {
      throw ControlError.invalid(
        `"seconds" must be from ${attestationDue} (attestation deadline) to ${latest} (end of the slot), ` +
          `got ${seconds}.`,
      );
    }
    return time.exclusive(async () => {
      const fromSlot = clock.currentSlot + 1;
      const middle = (attestationDue + clock.secondsPerSlot) / 2;
      this.#delay = { fromSlot, untilSlot: fromSlot + slots, slotsLate, seconds: seconds ?? middle };
      return this.#delay;
    });
  }
}
