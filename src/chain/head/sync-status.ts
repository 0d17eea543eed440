import { type ExecutionEngine, isReachable } from "../../execution/engine.ts";
import type { Clock } from "../clock/clock.ts";
import type { PayloadVerification } from "../fork-choice/payloads/payload-verification.ts";
import type { Revision } from "../revision.ts";
import type { HeadTracker } from "./head-tracker.ts";

/** Without a network, the node counts as syncing if its head is further behind the clock than this. */
const DEFAULT_HORIZON_SECONDS = 600;

/**
 * Whether a node needs peers to confirm its head before it proceeds. `sole`: no, because the node runs all validators
 * and other nodes only follow. `founder`: not until other nodes have joined the chain that the node started; from then
 * on like `member`. `member`: yes.
 */
export type Authority = "sole" | "founder" | "member";

/** Source of the sync state for nodes with peers. */
export interface SyncStateSource {
  readonly isSyncing: boolean;
  /** Calls the listener on every change. */
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

/** Sync state of the node. */
export class SyncStatus {
  readonly #clock: Clock;
  readonly #tracker: HeadTracker;
  readonly #payloads: PayloadVerification;
  readonly #engine: ExecutionEngine;
  readonly #revision: Revision;
  readonly #horizonSlots: number;
  #source: SyncStateSource | undefined;

  constructor(parts: SyncStatusParts) {
    this.#clock = parts.clock;
    this.#tracker = parts.tracker;
    this.#payloads = parts.payloads;
    this.#engine = parts.engine;
    this.#revision = parts.revision;
    this.#horizonSlots = parts.horizonSlots ?? Math.floor(DEFAULT_HORIZON_SECONDS / parts.clock.secondsPerSlot);
  }

  /** If no source is set, compares the head's distance from the clock with the limit. */
  get isSyncing(): boolean {
    return this.#source?.isSyncing ?? this.syncDistance > this.#horizonSlots;
  }

  /** Number of slots between the head and the current slot. All of them may be empty. */
  get syncDistance(): number {
    return Math.max(0, this.#clock.currentSlot - this.#tracker.head.slot);
  }

  /** Sets a source that knows the heads of peers. */
  setSource(source: SyncStateSource): void {
    this.#source = source;
    this.#revision.raiseStatus();
    source.onChange?.(() => this.#revision.raiseStatus());
  }

  /** Publishes changes in the clock's and the engine's status to other threads. Returns a stop function. */
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
    return this.#payloads.isNodeOptimistic(this.#tracker.headNode);
  }

  /** False before the merge, when no execution engine is needed. */
  get executionOffline(): boolean {
    return !isReachable(this.#engine.state) && this.#tracker.head.execution.status !== "pre-merge";
  }
}
