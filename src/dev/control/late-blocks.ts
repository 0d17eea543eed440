import type { BeaconConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import { ControlRefusal, type Delay, type DelayOrder, type LateBlockControl } from "../../api/dev-control.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Lateness } from "../validators/duty-plan.ts";
import type { DevTime } from "./time.ts";

/** Of a second of the slot: what comes at its very end may come in the next one. */
const LATEST_MS = 990;

interface DevLateBlocksParts {
  clock: Clock;
  config: BeaconConfig;
  time: DevTime;
}

/** Which blocks come late. */
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

  latenessAt(slot: Slot): Lateness | undefined {
    if (!this.#delay || slot < this.#delay.fromSlot || slot >= this.#delay.untilSlot) return undefined;
    return { slots: this.#delay.slotsLate, seconds: this.#delay.seconds };
  }

  delay({ slots, slotsLate, seconds }: DelayOrder): Promise<Delay> {
    const { clock, config, time } = this.#parts;
    const attestingDue = config.getAttestationDueMs(config.getForkName(clock.currentSlot)) / 1000;
    const latest = Math.floor(clock.secondsPerSlot * LATEST_MS) / 1000;
    if (seconds !== undefined && (seconds < attestingDue || seconds > latest)) {
      throw ControlRefusal.wrong(
        `"seconds" must be from ${attestingDue}, when attesting is due, to ${latest}, the end of the slot; it is ${seconds}.`,
      );
    }
    return time.inTurn(async () => {
      const fromSlot = clock.currentSlot + 1;
      const middle = (attestingDue + clock.secondsPerSlot) / 2;
      this.#delay = { fromSlot, untilSlot: fromSlot + slots, slotsLate, seconds: seconds ?? middle };
      return this.#delay;
    });
  }
}
