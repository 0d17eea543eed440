import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { SyncPeers } from "../../network/peers/sync-peers.ts";
import type { Sync } from "../sync.ts";
import { BlockWalk } from "./block-walk.ts";
import { DataWalk } from "./data-walk.ts";
import { HistoryPeers } from "./history-peers.ts";
import type { Walk } from "./walk.ts";

interface BackfillLimits {
  batchSlots: number;
  /** A peer that failed is not asked for so long. */
  restMs: number;
}

const DEFAULT_LIMITS: BackfillLimits = { batchSlots: 64, restMs: 30_000 };

interface BackfillParts {
  chain: Pick<BeaconChain, "config" | "clock" | "history">;
  peers: SyncPeers;
  sync: Pick<Sync, "isAtRest" | "onRest">;
  /**
   * How far back from the current epoch blocks are fetched: by default as far as every node has to serve them
   * (phase0/p2p-interface.md, BeaconBlocksByRange); infinite for all of history, 0 for nothing.
   */
  epochs?: number;
  logger: Logger;
  timers?: Pick<Timers, "now">;
  limits?: Partial<BackfillLimits>;
}

/** Fetches the history that a node lacks which was started from a later state, while it has nothing else to fetch. */
export class Backfill {
  readonly #parts: BackfillParts;
  readonly #logger: Logger;
  readonly #walks: readonly Walk[];
  readonly #closed = new AbortController();
  #running: Promise<void> | null = null;
  /** Whether something has happened since the last step began. */
  #isWoken = false;
  #wake: () => void = () => {};

  constructor(parts: BackfillParts) {
    const { chain, peers, timers = SYSTEM_TIMERS, epochs = chain.config.MIN_EPOCHS_FOR_BLOCK_REQUESTS } = parts;
    const { batchSlots, restMs } = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#parts = parts;
    this.#logger = parts.logger.topic("sync");
    const shared = { chain, peers, timers, logger: this.#logger };
    // A peer that lacks data may well have blocks, so each walk has those that rest to itself.
    const blockPeers = new HistoryPeers({ peers, timers, restMs });
    const dataPeers = new HistoryPeers({ peers, timers, restMs });
    const blocks = new BlockWalk({ ...shared, historyPeers: blockPeers, epochs, batchSlots });
    this.#walks =
      epochs === 0
        ? []
        : [blocks, new DataWalk({ ...shared, historyPeers: dataPeers, blocksTarget: () => blocks.target })];
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
    const stops = [peers.onChange(wake), sync.onRest(wake), chain.clock.onSlot(wake)];
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        this.#isWoken = false;
        if (!(await this.#step(signal))) await this.#untilSomethingHappens();
      }
    } catch (error) {
      if (!signal.aborted) this.#logger.error("Fetching earlier history failed, and ends", { error });
    } finally {
      signal.removeEventListener("abort", wake);
      for (const stop of stops) stop();
    }
  }

  /** False when there is nothing to do before something happens. */
  async #step(signal: AbortSignal): Promise<boolean> {
    let isAdvanced = false;
    for (const walk of this.#walks) {
      if (!this.#parts.sync.isAtRest) return false;
      if (await walk.step(signal)) isAdvanced = true;
    }
    return isAdvanced;
  }

  /** A new slot at the latest; peers that rest may be asked again by then. */
  #untilSomethingHappens(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isWoken) resolve();
    });
  }
}
