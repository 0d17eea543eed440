import { type ExecutionEngine, isReachable } from "../execution/engine.ts";
import type { Clock } from "./clock/clock.ts";
import type { HeadTracker } from "./head-tracker.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import type { Revision } from "./revision.ts";

/** How long the head of a chain without a network may lie behind the clock before the node counts as syncing. */
const DEFAULT_HORIZON_SECONDS = 600;

/**
 * Whom a node asks before it goes on with its chain. `sole`: nobody, because all validators are its own and others only
 * follow. `founder`: nobody until others have come to the chain that began with it, and from then on its peers, as a `member`.
 */
export type Authority = "sole" | "founder" | "member";

/** Who knows what the chain alone cannot tell: whether others are further. */
export interface SyncJudge {
  readonly isSyncing: boolean;
  /** Calls the listener when that has changed. */
  onChange?(listener: () => void): () => void;
}

interface SyncStatusParts {
  clock: Clock;
  tracker: HeadTracker;
  payloads: PayloadVerification;
  engine: ExecutionEngine;
  revision: Revision;
  horizonSlots?: number;
}

/** Whether this node's view of the chain is one to act on. All who want to know it ask here. */
export class SyncStatus {
  readonly #clock: Clock;
  readonly #tracker: HeadTracker;
  readonly #payloads: PayloadVerification;
  readonly #engine: ExecutionEngine;
  readonly #revision: Revision;
  readonly #horizonSlots: number;
  #judge: SyncJudge | undefined;

  constructor(parts: SyncStatusParts) {
    this.#clock = parts.clock;
    this.#tracker = parts.tracker;
    this.#payloads = parts.payloads;
    this.#engine = parts.engine;
    this.#revision = parts.revision;
    this.#horizonSlots = parts.horizonSlots ?? Math.floor(DEFAULT_HORIZON_SECONDS / parts.clock.secondsPerSlot);
  }

  /** Without anybody to ask, the clock decides. */
  get isSyncing(): boolean {
    return this.#judge?.isSyncing ?? this.syncDistance > this.#horizonSlots;
  }

  /** Slots from the head to the current one, which may all be empty. */
  get syncDistance(): number {
    return Math.max(0, this.#clock.currentSlot - this.#tracker.head.slot);
  }

  /** From now on somebody who hears of other nodes decides. */
  decideBy(judge: SyncJudge): void {
    this.#judge = judge;
    this.#revision.raiseStatus();
    judge.onChange?.(() => this.#revision.raiseStatus());
  }

  /** Lets other threads know of changes that neither the head nor the judge brings; returns the function that ends it. */
  follow(): () => void {
    const ends = [
      this.#clock.onSlot(() => this.#revision.raiseStatus()),
      this.#engine.onStateChange(() => this.#revision.raiseStatus()),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  get isOptimistic(): boolean {
    return this.#payloads.isOptimistic(this.#tracker.head);
  }

  /** Before the merge nothing has to be asked of an execution engine, so none is missing. */
  get executionOffline(): boolean {
    return !isReachable(this.#engine.state) && this.#tracker.head.execution.status !== "pre-merge";
  }
}
