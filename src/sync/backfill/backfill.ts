import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { SyncPeers } from "../../network/peers/sync-peers.ts";
import type { SyncSettings } from "../settings.ts";
import type { Sync } from "../sync.ts";
import { BackfillPeers } from "./backfill-peers.ts";
import type { BackfillTask } from "./backfill-task.ts";
import { BlockBackfill } from "./block-backfill.ts";
import { DataBackfill } from "./data-backfill.ts";

interface BackfillLimits {
  batchSlots: number;
  /** Backoff after a failed request to a peer. */
  backoffMs: number;
}

const DEFAULT_LIMITS: BackfillLimits = { batchSlots: 64, backoffMs: 30_000 };

interface BackfillParts {
  chain: Pick<BeaconChain, "config" | "clock" | "history">;
  peers: SyncPeers;
  sync: Pick<Sync, "isIdle" | "onIdle">;
  settings: Pick<SyncSettings, "backfillEpochs">;
  logger: Logger;
  timers?: Pick<Timers, "now">;
  limits?: Partial<BackfillLimits>;
}

/** Fetches a checkpoint-synced node's history before its anchor while the sync is idle. */
export class Backfill {
  readonly #parts: BackfillParts;
  readonly #logger: Logger;
  readonly #tasks: readonly BackfillTask[];
  readonly #closed = new AbortController();
  #running: Promise<void> | null = null;
  /** True if an event has occurred since the last step started. */
  #isWoken = false;
  #wake: () => void = () => {};

  constructor(parts: BackfillParts) {
    const { chain, peers, settings, timers = SYSTEM_TIMERS } = parts;
    const epochs = settings.backfillEpochs ?? chain.config.MIN_EPOCHS_FOR_BLOCK_REQUESTS;
    const { batchSlots, backoffMs } = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#parts = parts;
    this.#logger = parts.logger.topic("sync");
    const shared = { chain, peers, timers, logger: this.#logger };
    // Blocks and data have separate backoffs, because a peer without data may have blocks.
    const blockPeers = new BackfillPeers({ peers, timers, backoffMs });
    const dataPeers = new BackfillPeers({ peers, timers, backoffMs });
    const blocks = new BlockBackfill({ ...shared, backfillPeers: blockPeers, epochs, batchSlots });
    this.#tasks =
      epochs === 0
        ? []
        : [blocks, new DataBackfill({ ...shared, backfillPeers: dataPeers, blocksTarget: () => blocks.target })];
  }

  start(): void {
    this.#running ??= this.#run(this.#closed.signal);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { peers, sync, chain } = this.#parts;
    const wake = () => {
      this.#isWoken = true;
      this.#wake();
    };
    const stops = [peers.onChange(wake), sync.onIdle(wake), chain.clock.onSlot(wake)];
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        this.#isWoken = false;
        if (!(await this.#step(signal))) await this.#nextEvent();
      }
    } catch (error) {
      if (!signal.aborted) this.#logger.error("Backfill failed", { error });
    } finally {
      signal.removeEventListener("abort", wake);
      for (const stop of stops) stop();
    }
  }

  /** Returns false if there is nothing to do until the next event. */
  async #step(signal: AbortSignal): Promise<boolean> {
    let isAdvanced = false;
    for (const walk of this.#tasks) {
      if (!this.#parts.sync.isIdle) return false;
      if (await walk.step(signal)) isAdvanced = true;
    }
    return isAdvanced;
  }

  /** Resolves at the next slot at the latest, when a peer's backoff may have ended. */
  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isWoken) resolve();
    });
  }
}
