import type { ExecutionEngine } from "../execution/engine.ts";
import type { Clock } from "./clock/clock.ts";
import type { HeadTracker } from "./head-tracker.ts";

/** How long a head may lie behind the clock before the node counts as syncing. */
const DEFAULT_HORIZON_SECONDS = 600;

/** Whether this node's view of the chain is recent enough to act on. */
export class SyncStatus {
  readonly #clock: Clock;
  readonly #tracker: HeadTracker;
  readonly #engine: ExecutionEngine;
  readonly #horizonSlots: number;

  constructor(parts: { clock: Clock; tracker: HeadTracker; engine: ExecutionEngine; horizonSlots?: number }) {
    this.#clock = parts.clock;
    this.#tracker = parts.tracker;
    this.#engine = parts.engine;
    this.#horizonSlots = parts.horizonSlots ?? Math.floor(DEFAULT_HORIZON_SECONDS / parts.clock.secondsPerSlot);
  }

  get isSyncing(): boolean {
    return this.#slotsBehind > this.#horizonSlots;
  }

  /** Slots still to catch up with; none once the node is synced, whether or not the newest slots have blocks. */
  get syncDistance(): number {
    return this.isSyncing ? this.#slotsBehind : 0;
  }

  get isOptimistic(): boolean {
    return this.#tracker.head.execution.status === "optimistic";
  }

  /** Before the merge nothing has to be asked of an execution engine, so none is missing. */
  get executionOffline(): boolean {
    return !this.#engine.online && this.#tracker.head.execution.status !== "pre-merge";
  }

  get #slotsBehind(): number {
    return Math.max(0, this.#clock.currentSlot - this.#tracker.head.slot);
  }
}
