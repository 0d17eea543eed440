import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { Logger } from "../log/logger.ts";
import type { UnknownBlocks } from "../network/gossip/block-handler.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { SYSTEM_TIMERS, type Timers } from "../timers.ts";
import { DEFAULT_LIMITS, type RangeSyncLimits } from "./limits.ts";
import { RangeSync } from "./range-sync.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import { HEAD_TOLERANCE_SLOTS, headClaim } from "./sync-target.ts";
import { UnknownBlockSync } from "./unknown-block-sync.ts";

/** Whether the node is catching up with its peers. */
export interface SyncView {
  readonly isSyncing: boolean;
  /** Slots from the head to the current one while syncing, else 0. */
  readonly syncDistance: number;
}

type SyncState = "waiting for peers" | "syncing" | "synced";

interface SyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
  timers?: Pick<Timers, "now" | "sleep">;
  limits?: Partial<RangeSyncLimits>;
}

/** Keeps this node's chain level with those of its peers. */
export class Sync implements SyncView, UnknownBlocks {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  readonly #logger: Logger;
  readonly #range: RangeSync;
  readonly #unknownBlocks: UnknownBlockSync;
  readonly #listeners = new Set<(state: SyncState) => void>();
  #stop: (() => void)[] = [];
  readonly #closed = new AbortController();
  #isInformed = false;
  #isEvaluating = false;
  #announced: SyncState | null = null;

  constructor({ chain, peers, logger, timers = SYSTEM_TIMERS, limits = {} }: SyncParts) {
    this.#chain = chain;
    this.#peers = peers;
    this.#logger = logger.topic("sync");
    this.#range = new RangeSync({
      chain,
      peers,
      timers,
      logger: this.#logger,
      limits: { ...DEFAULT_LIMITS, ...limits },
      slotsPerEpoch: SLOTS_PER_EPOCH,
      onChange: () => this.#announce(),
    });
    this.#unknownBlocks = new UnknownBlockSync({
      chain,
      peers,
      logger: this.#logger,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      isRangeSyncing: () => this.#isCatchingUp,
      onLongBranch: (branch) => this.#range.addBranch(branch),
    });
  }

  get state(): SyncState {
    if (this.#isCatchingUp) return "syncing";
    const isBehind = this.#chain.status.isSyncing;
    if (!this.#isInformed && (isBehind || this.#slotsBehind > SLOTS_PER_EPOCH)) return "waiting for peers";
    return isBehind ? "syncing" : "synced";
  }

  get isSyncing(): boolean {
    return this.state !== "synced";
  }

  /** Whether any peer has told its status since the start. */
  get isInformed(): boolean {
    return this.#isInformed;
  }

  get syncDistance(): number {
    return this.isSyncing ? this.#slotsBehind : 0;
  }

  start(): void {
    if (this.#stop.length > 0) return;
    this.#unknownBlocks.start();
    this.#stop.push(
      this.#peers.onChange(() => this.#evaluate()),
      this.#chain.clock.onSlot(() => this.#evaluate()),
      this.#chain.events.on("head", () => this.#announce()),
    );
    this.#evaluate();
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    this.#closed.abort(new Error("The node stopped before it was synced."));
    await Promise.all([this.#range.close(), this.#unknownBlocks.close()]);
  }

  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownParent(signed, peerId);
  }

  onUnknownBlock(root: RootHex, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownBlock(root, peerId);
  }

  /** Calls the listener when the state is another. Returns the function that ends it. */
  onChange(listener: (state: SyncState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once the node is synced; rejects with the signal's reason when that is aborted first, or when this is closed. */
  whenSynced(given?: AbortSignal): Promise<void> {
    const signal = given ? AbortSignal.any([given, this.#closed.signal]) : this.#closed.signal;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (!this.isSyncing) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stopListening = this.onChange((state) => {
        if (state !== "synced") return;
        end();
        resolve();
      });
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const end = () => {
        stopListening();
        signal.removeEventListener("abort", onAbort);
      };
      signal.addEventListener("abort", onAbort);
    });
  }

  /**
   * What a few peers claim to have, and nobody can check before it is there, must not keep a node from its duties that was
   * synced and is still level with the clock. When most claim it, the node may be on a branch that the others have left.
   */
  get #isCatchingUp(): boolean {
    const isLevel = this.#announced === "synced" && this.#slotsBehind <= HEAD_TOLERANCE_SLOTS;
    return this.#range.isActive && (!isLevel || this.#range.isClaimedByMost);
  }

  get #slotsBehind(): number {
    return Math.max(0, this.#chain.clock.currentSlot - this.#chain.head.slot);
  }

  #evaluate(): void {
    // What follows may itself lead to a change of the peers, when one is dropped for what it told.
    if (this.#isEvaluating) return;
    this.#isEvaluating = true;
    try {
      if (this.#peers.list().length > 0) this.#isInformed = true;
      this.#range.evaluate();
      if (!this.#isCatchingUp) this.#seekHeads();
      this.#announce();
    } finally {
      this.#isEvaluating = false;
    }
  }

  /**
   * A head that is about level with ours and that we do not know is on another branch, or was missed: range sync has
   * nothing to do with it. A block of the current slot is on its way to us by gossip.
   */
  #seekHeads(): void {
    const { clock, head, forkChoice } = this.#chain;
    const finalizedSlot = finalizedSlotOf(this.#chain, SLOTS_PER_EPOCH);
    for (const peer of this.#peers.list()) {
      const { slot, root, peerId } = headClaim(peer);
      if (slot >= clock.currentSlot || slot <= finalizedSlot || slot > head.slot + HEAD_TOLERANCE_SLOTS) continue;
      if (!forkChoice.has(root)) this.#unknownBlocks.onUnknownBlock(root, peerId);
    }
  }

  #announce(): void {
    const { state } = this;
    if (state === this.#announced) return;
    const was = this.#announced;
    this.#announced = state;
    if (state === "synced") {
      const { slot } = this.#chain.head;
      this.#logger.info("Synced", was === "syncing" ? { slot, ...this.#range.summary() } : { slot });
    }
    if (state === "waiting for peers") this.#logger.info("Waiting for peers", { behind: this.#slotsBehind });
    for (const listener of [...this.#listeners]) {
      try {
        listener(state);
      } catch (error) {
        this.#logger.error("A listener to the state of syncing failed", { state, error });
      }
    }
  }
}
