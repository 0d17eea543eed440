import type { Slot } from "@lodestar/types";
import type { Logger } from "../log/logger.ts";
import type { Timers } from "../timers.ts";
import type { SyncChain } from "./sync-chain.ts";

const REPORT_INTERVAL_MS = 5_000;
/** Over how long the speed is averaged. */
const WINDOW_MS = 60_000;

interface Sample {
  at: number;
  slot: Slot;
}

interface SyncProgressParts {
  chain: Pick<SyncChain, "head">;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Tells in the log how syncing goes: once in a while, however often it is asked to. */
export class SyncProgress {
  readonly #chain: Pick<SyncChain, "head">;
  readonly #timers: Pick<Timers, "now">;
  readonly #logger: Logger;
  #began: Sample = { at: 0, slot: 0 };
  #samples: Sample[] = [];
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor({ chain, timers, logger }: SyncProgressParts) {
    this.#chain = chain;
    this.#timers = timers;
    this.#logger = logger;
  }

  begin(): void {
    this.#began = { at: this.#timers.now(), slot: this.#chain.head.slot };
    this.#samples = [];
  }

  /** Of all that came since the beginning. */
  summary(): { slots: number; seconds: number; slotsPerSecond: number | undefined } {
    const slots = Math.max(0, this.#chain.head.slot - this.#began.slot);
    const seconds = (this.#timers.now() - this.#began.at) / 1000;
    return { slots, seconds: rounded(seconds), slotsPerSecond: seconds > 0 ? rounded(slots / seconds) : undefined };
  }

  report(target: Slot, peers: number): void {
    const at = this.#timers.now();
    const { slot } = this.#chain.head;
    if (at - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = at;
    this.#samples = [...this.#samples.filter((sample) => at - sample.at <= WINDOW_MS), { at, slot }];
    const speed = this.#slotsPerSecond();
    this.#logger.info("Syncing", {
      slot,
      target,
      peers,
      slotsPerSecond: speed === null ? undefined : rounded(speed),
      timeLeft: speed === null ? undefined : inWords((target - slot) / speed),
    });
  }

  #slotsPerSecond(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.slot <= first.slot) return null;
    return ((last.slot - first.slot) / (last.at - first.at)) * 1000;
  }
}

const rounded = (value: number): number => Number(value.toPrecision(3));

function inWords(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours}h ${minutes}min`;
  if (minutes > 0) return `${minutes}min ${whole % 60}s`;
  return `${whole}s`;
}
