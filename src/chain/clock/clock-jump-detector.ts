import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";

/** Tolerance for gradual clock corrections (slewing). */
const CORRECTION_MS = 1000;

/** Receives the jump in seconds; negative if the clock was set back. */
export type JumpListener = (seconds: number) => void;

/** Detects jumps of the wall clock relative to monotonic time. A machine that was asleep appears as a forward jump. */
export class ClockJumpDetector {
  readonly #tolerated: { aheadMs: number };
  readonly #onJump: JumpListener;
  readonly #timers: Pick<Timers, "now" | "unixNow">;
  #offset: number;

  /** Tolerates forward jumps of up to one slot, because they skip no slot. */
  constructor(secondsPerSlot: number, onJump: JumpListener, timers: Pick<Timers, "now" | "unixNow"> = SYSTEM_TIMERS) {
    this.#tolerated = { aheadMs: Math.max(secondsPerSlot * 1000, CORRECTION_MS) };
    this.#onJump = onJump;
    this.#timers = timers;
    this.#offset = this.#readOffset();
  }

  /** Reports each jump once. Call it at least once per slot. */
  check(): void {
    const offset = this.#readOffset();
    const jumpedMs = offset - this.#offset;
    this.#offset = offset;
    if (jumpedMs > this.#tolerated.aheadMs || jumpedMs < -CORRECTION_MS) this.#onJump(Math.round(jumpedMs / 1000));
  }

  #readOffset(): number {
    return this.#timers.unixNow() - this.#timers.now();
  }
}
