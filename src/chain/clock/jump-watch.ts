import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";

/** The time of day runs a little faster or slower than the timers while it is being corrected; that is no jump. */
const CORRECTION_MS = 1000;

/** Told by how many seconds the time of day went ahead of the time that passed; below zero when it was set back. */
export type JumpListener = (seconds: number) => void;

/** Compares the time of day with the time that really passed. A machine that slept shows as a jump ahead. */
export class JumpWatch {
  readonly #tolerated: { aheadMs: number };
  readonly #onJump: JumpListener;
  readonly #timers: Pick<Timers, "now" | "unixNow">;
  #offset: number;

  /** Ahead, whatever stays within a slot is no jump: nothing is skipped by it. */
  constructor(secondsPerSlot: number, onJump: JumpListener, timers: Pick<Timers, "now" | "unixNow"> = SYSTEM_TIMERS) {
    this.#tolerated = { aheadMs: Math.max(secondsPerSlot * 1000, CORRECTION_MS) };
    this.#onJump = onJump;
    this.#timers = timers;
    this.#offset = this.#readOffset();
  }

  /** To be called at least once a slot; tells of each jump once. */
  look(): void {
    const offset = this.#readOffset();
    const jumpedMs = offset - this.#offset;
    this.#offset = offset;
    if (jumpedMs > this.#tolerated.aheadMs || jumpedMs < -CORRECTION_MS) this.#onJump(Math.round(jumpedMs / 1000));
  }

  #readOffset(): number {
    return this.#timers.unixNow() - this.#timers.now();
  }
}
