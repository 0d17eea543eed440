import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { Authority, SyncStateSource } from "../chain/head/sync-status.ts";
import type { Logger } from "../log/logger.ts";
import type { UnknownBlocks } from "../network/gossip/block-handler.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { DataLookups } from "./data-lookups.ts";
import { DEFAULT_LIMITS, type RangeSyncLimits } from "./limits.ts";
import { PayloadLookups } from "./payload-lookups.ts";
import { PeerAgreement } from "./peer-agreement.ts";
import { RangeSync } from "./range-sync.ts";
import type { SyncSettings } from "./settings.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import { headClaim, LEVEL_SLOTS } from "./sync-target.ts";
import { UnknownBlockSync } from "./unknown-block-sync.ts";

/** Number of consecutive empty slots after which a synced node needs confirmation from its peers. */
const MAX_EMPTY_SLOTS = 8;

type SyncState = "waiting for peers" | "syncing" | "synced";

interface SyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
  timers?: Pick<Timers, "now" | "sleep">;
  limits?: Partial<RangeSyncLimits>;
  authority?: Authority;
  settings: Pick<SyncSettings, "horizonSlots">;
}

/** Keeps the chain in sync with the peers and decides whether the node is synced. */
export class Sync implements SyncStateSource, UnknownBlocks {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  readonly #logger: Logger;
  readonly #range: RangeSync;
  readonly #unknownBlocks: UnknownBlockSync;
  readonly #dataLookups: DataLookups;
  readonly #payloadLookups: PayloadLookups;
  readonly #agreement: PeerAgreement;
  readonly #authority: Authority;
  readonly #horizonSlots: number;
  readonly #listeners = new Set<(state: SyncState) => void>();
  readonly #idleListeners = new Set<() => void>();
  #unsubscribes: (() => void)[] = [];
  readonly #closed = new AbortController();
  /** True once a peer has sent its status. */
  #isInformed = false;
  #isEvaluating = false;
  #announced: SyncState | null = null;
  #wasIdle = false;
  /** True from a suspension until the next slot event, because the clock may lag until then. */
  #isResuming = false;
  #hasWarnedAnchorOnly = false;
  /** True if ranges have been fetched since the node was last synced. */
  #hasFetched = false;

  constructor(parts: SyncParts) {
    const { chain, peers, logger, timers = SYSTEM_TIMERS, limits = {} } = parts;
    this.#chain = chain;
    this.#peers = peers;
    this.#agreement = new PeerAgreement(chain, peers);
    this.#authority = parts.authority ?? "member";
    this.#horizonSlots = parts.settings.horizonSlots ?? LEVEL_SLOTS;
    this.#logger = logger.topic("sync");
    this.#range = new RangeSync({
      chain,
      peers,
      timers,
      logger: this.#logger,
      limits: { ...DEFAULT_LIMITS, ...limits },
      slotsPerEpoch: SLOTS_PER_EPOCH,
      onChange: () => this.#onRangeChange(),
    });
    this.#unknownBlocks = new UnknownBlockSync({
      chain,
      peers,
      logger: this.#logger,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      isRangeSyncing: () => this.#isCatchingUp,
      onLongBranch: (branch) => this.#range.addBranch(branch),
    });
    this.#dataLookups = new DataLookups({ chain, peers, logger: this.#logger });
    this.#payloadLookups = new PayloadLookups({ chain, peers, logger: this.#logger });
    chain.status.setSource(this);
  }

  get state(): SyncState {
    if (this.#isSynced) return "synced";
    return this.#peers.list().length > 0 ? "syncing" : "waiting for peers";
  }

  get isSyncing(): boolean {
    return this.state !== "synced";
  }

  /** True if nothing is missing at the head, so that backfill may run. */
  get isIdle(): boolean {
    return this.state === "synced" && !this.#range.isActive;
  }

  start(): void {
    if (this.#unsubscribes.length > 0) return;
    this.#unknownBlocks.start();
    this.#dataLookups.start();
    this.#payloadLookups.start();
    this.#unsubscribes.push(
      this.#peers.onChange(() => this.#evaluate()),
      this.#chain.clock.onSlot(() => this.#onSlot()),
      this.#chain.events.on("head", () => this.#onHead()),
    );
    this.#evaluate();
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    this.#closed.abort(new Error("The node shut down before it was synced."));
    const parts = [this.#range, this.#unknownBlocks, this.#dataLookups, this.#payloadLookups];
    await Promise.all(parts.map((part) => part.close()));
  }

  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownParent(signed, peerId);
  }

  onUnknownBlock(root: RootHex, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownBlock(root, peerId);
  }

  onUnknownPayload(root: RootHex, peerId: string): void {
    this.#payloadLookups.seek(root, peerId);
  }

  /**
   * Called after the process was suspended. The node counts as synced again once its head is level with the clock or
   * confirmed by peers.
   */
  onSuspended(): void {
    this.#isResuming = true;
    this.#agreement.discard();
    this.#agreement.refresh("all");
    this.#evaluate();
  }

  /** Calls the listener when the state changes. Returns an unsubscribe function. */
  onChange(listener: (state: SyncState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls the listener when the sync becomes idle, which may be later than when it is synced. Returns an unsubscribe
   * function.
   */
  onIdle(listener: () => void): () => void {
    this.#idleListeners.add(listener);
    return () => this.#idleListeners.delete(listener);
  }

  /** Resolves once the node is synced. Rejects if the signal is aborted or the sync is closed. */
  whenSynced(externalSignal?: AbortSignal): Promise<void> {
    const signal = externalSignal ? AbortSignal.any([externalSignal, this.#closed.signal]) : this.#closed.signal;
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
   * Decides whether the node is synced. It is if its head is level with the clock. Otherwise the slots since the head
   * may be empty or missed, and the peers decide: a node that has just started or was suspended is synced only if the
   * peers have no later blocks. Unverified claims by a few peers do not keep a synced node from its duties. If most
   * peers claim a longer chain, the node may be on an abandoned branch.
   */
  get #isSynced(): boolean {
    if (this.#authority === "sole" || (this.#authority === "founder" && !this.#isInformed)) return true;
    if (this.#range.isActive && this.#range.isClaimedByMost) return false;
    const behind = this.#chain.status.syncDistance;
    if (behind <= LEVEL_SLOTS) return true;
    if (this.#peers.list().length === 0) return behind <= this.#horizonSlots;
    const wasSynced = this.#announced === "synced" && !this.#isResuming;
    if (this.#range.isActive && !wasSynced) return false;
    if (wasSynced && behind <= MAX_EMPTY_SLOTS) return true;
    if (this.#agreement.isReached && (wasSynced || !this.#agreement.isAnchorOnly)) return true;
    return behind <= this.#horizonSlots && !this.#range.isActive;
  }

  /** True while missing ranges are being fetched. */
  get #isCatchingUp(): boolean {
    return this.#range.isActive && this.isSyncing;
  }

  #onSlot(): void {
    if (this.#chain.status.syncDistance > LEVEL_SLOTS) this.#agreement.refresh("all");
    this.#evaluate();
    this.#isResuming = false;
  }

  #onHead(): void {
    this.#agreement.discard();
    this.#announce();
  }

  #onRangeChange(): void {
    if (this.#range.isActive) this.#hasFetched = this.isSyncing;
    else {
      this.#agreement.refresh("outdated");
      this.#unknownBlocks.resume();
    }
    this.#announce();
    if (!this.isSyncing) this.#range.endSync();
  }

  #evaluate(): void {
    // The evaluation may drop a peer, which triggers another evaluation.
    if (this.#isEvaluating) return;
    this.#isEvaluating = true;
    try {
      if (this.#peers.list().length > 0) this.#isInformed = true;
      this.#range.evaluate();
      if (!this.#isCatchingUp) this.#lookUpHeads();
      this.#announce();
      this.#warnIfAnchorOnly();
    } finally {
      this.#isEvaluating = false;
    }
  }

  /**
   * Looks up unknown heads near ours that are on another branch or were missed. Range sync does not cover such heads. A
   * block for the current slot arrives by gossip.
   */
  #lookUpHeads(): void {
    const { clock, head, forkChoice } = this.#chain;
    const finalizedSlot = finalizedSlotOf(this.#chain, SLOTS_PER_EPOCH);
    for (const peer of this.#peers.list()) {
      const { slot, root, peerId } = headClaim(peer);
      if (slot >= clock.currentSlot || slot <= finalizedSlot || slot > head.slot + LEVEL_SLOTS) continue;
      if (!forkChoice.has(root)) this.#unknownBlocks.onUnknownBlock(root, peerId);
    }
  }

  /** Warns only once until the node is synced. */
  #warnIfAnchorOnly(): void {
    const { isSyncing } = this;
    const isAnchorOnly = isSyncing && this.#agreement.isReached && this.#agreement.isAnchorOnly;
    if (isAnchorOnly && !this.#hasWarnedAnchorOnly) {
      this.#logger.warn(
        "No peer is ahead of this node's initial state, waiting for a synced peer; give --peer or --bootnodes, " +
          "or --sync-horizon to start the chain now",
        { behind: this.#chain.status.syncDistance, peers: this.#peers.list().length },
      );
    }
    this.#hasWarnedAnchorOnly = isSyncing && (this.#hasWarnedAnchorOnly || isAnchorOnly);
  }

  #announce(): void {
    this.#announceState();
    const { isIdle } = this;
    if (isIdle && !this.#wasIdle) for (const listener of [...this.#idleListeners]) listener();
    this.#wasIdle = isIdle;
  }

  #announceState(): void {
    const { state } = this;
    if (state === this.#announced) return;
    this.#announced = state;
    if (state === "synced") {
      const { slot } = this.#chain.head;
      this.#logger.info("Synced", this.#hasFetched ? { slot, ...this.#range.summary() } : { slot });
      this.#hasFetched = false;
      this.#range.endSync();
    }
    if (state === "waiting for peers")
      this.#logger.info("Waiting for peers", { behind: this.#chain.status.syncDistance });
    for (const listener of [...this.#listeners]) {
      try {
        listener(state);
      } catch (error) {
        this.#logger.error("Sync state listener failed", { state, error });
      }
    }
  }
}
