import type { Slot } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Lateness } from "./duty-plan.ts";

interface LateBlock {
  atSeconds: number;
  /** Never rejects. */
  publish(): Promise<void>;
}

/** Blocks that are signed and wait for the moment at which they are to come. */
export class LateBlocks {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #waiting: LateBlock[] = [];

  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
  }

  /** @param slot the one that the block is of */
  hold(slot: Slot, { slots, seconds }: Lateness, publish: LateBlock["publish"]): void {
    this.#waiting.push({ atSeconds: this.#clock.slotStartSeconds(slot + slots) + seconds, publish });
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Publishes those whose moment comes before the given one, each at its moment or, when that has passed, now. */
  async publishBefore(chainSeconds: number): Promise<void> {
    const due = this.#waiting.filter(({ atSeconds }) => atSeconds < chainSeconds);
    this.#waiting = this.#waiting.filter((block) => !due.includes(block));
    for (const { atSeconds, publish } of due.sort((a, b) => a.atSeconds - b.atSeconds)) {
      await this.#clock.untilTime(atSeconds, this.#closing);
      await publish();
    }
  }
}
