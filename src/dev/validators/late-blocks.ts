import type { Slot } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";
import type { BlockDelay } from "./duty-plan.ts";

interface LateBlock {
  atSeconds: number;
  /** Never rejects. */
  publish(): Promise<void>;
}

/** Holds back signed blocks and payloads until they are due to be published. */
export class LateBlocks {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #waiting: readonly LateBlock[] = [];

  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
  }

  /** @param slot slot of the block */
  hold(slot: Slot, { slots, seconds }: BlockDelay, publish: LateBlock["publish"]): void {
    const atSeconds = this.#clock.slotStartSeconds(slot + slots) + seconds;
    this.#waiting = [...this.#waiting, { atSeconds, publish }];
  }

  clear(): void {
    this.#waiting = [];
  }

  capture(): () => void {
    const waiting = this.#waiting;
    return () => {
      this.#waiting = waiting;
    };
  }

  /** Publishes the blocks due before the given time, each at its due time. Overdue blocks are published immediately. */
  async publishBefore(chainSeconds: number): Promise<void> {
    const due = this.#waiting.filter(({ atSeconds }) => atSeconds < chainSeconds);
    this.#waiting = this.#waiting.filter((block) => !due.includes(block));
    for (const { atSeconds, publish } of due.sort((a, b) => a.atSeconds - b.atSeconds)) {
      await this.#clock.untilTime(atSeconds, this.#closing);
      await publish();
    }
  }
}
