import { type SlotListener, SlotListeners } from "../../../../src/chain/clock/clock.ts";
import { ManualClock } from "./manual-clock.ts";

/** Manual clock that announces slots. */
export class SteppedClock extends ManualClock {
  readonly #errors: unknown[] = [];
  readonly #listeners = new SlotListeners((error) => this.#errors.push(error));

  override onSlot(listener: SlotListener): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Goes to a time through all slots before it. Calls `settle` after each announcement instead of waiting for the
   * listeners, which may wait for a later time in the slot. Throws errors of listeners.
   */
  async stepTo(seconds: number, settle: () => Promise<void>): Promise<void> {
    const lastSlot = Math.floor((seconds - this.genesisTime) / this.secondsPerSlot);
    for (let slot = this.currentSlot + 1; slot <= lastSlot; slot++) {
      this.set(slot);
      void this.#listeners.call(slot);
      await settle();
    }
    this.advanceTo(seconds);
    if (this.#errors.length > 0) throw this.#errors[0];
  }
}
