import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { Authority, SyncJudge } from "../chain/sync-status.ts";
import type { Logger } from "../log/logger.ts";
import type { UnknownBlocks } from "../network/gossip/block-handler.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { DataLookups } from "./data-lookups.ts";
import { DEFAULT_LIMITS, type RangeSyncLimits } from "./limits.ts";
import { PeerAgreement } from "./peer-agreement.ts";
import { RangeSync } from "./range-sync.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import { headClaim, LEVEL_SLOTS } from "./sync-target.ts";
import { UnknownBlockSync } from "./unknown-block-sync.ts";

/** So many slots in a row may bring no block to a node that was synced before its peers have to confirm that they are empty. */
const QUIET_SLOTS = 8;

type SyncState = "waiting for peers" | "syncing" | "synced";

interface SyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
  timers?: Pick<Timers, "now" | "sleep">;
  limits?: Partial<RangeSyncLimits>;
  authority?: Authority;
  /** How far the head may lie behind the clock though no peer confirms it. */
  horizonSlots?: number;
}

/** Keeps this node's chain level with those of its peers, and knows whether it is. */
export class Sync implements SyncJudge, UnknownBlocks {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  readonly #logger: Logger;
  readonly #range: RangeSync;
  readonly #unknownBlocks: UnknownBlockSync;
  readonly #dataLookups: DataLookups;
  readonly #agreement: PeerAgreement;
  readonly #authority: Authority;
  readonly #horizonSlots: number;
  readonly #listeners = new Set<(state: SyncState) => void>();
  readonly #restListeners = new Set<() => void>();
  #stop: (() => void)[] = [];
  readonly #closed = new AbortController();
  /** Whether any peer has told its status since the start. */
  #isInformed = false;
  #isEvaluating = false;
  #announced: SyncState | null = null;
  #wasAtRest = false;
  /** Whether no slot was announced since a suspension: until then the clock may not have moved on. */
  #isResuming = false;
  #hasWarnedOfNothing = false;
  /** Whether ranges were fetched since it was last synced. */
  #hasFetched = false;

  constructor(parts: SyncParts) {
    const { chain, peers, logger, timers = SYSTEM_TIMERS, limits = {} } = parts;
    this.#chain = chain;
    this.#peers = peers;
    this.#agreement = new PeerAgreement(chain, peers);
    this.#authority = parts.authority ?? "member";
    this.#horizonSlots = parts.horizonSlots ?? LEVEL_SLOTS;
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
    chain.status.decideBy(this);
  }

  get state(): SyncState {
    if (this.#isSynced) return "synced";
    return this.#peers.list().length > 0 ? "syncing" : "waiting for peers";
  }

  get isSyncing(): boolean {
    return this.state !== "synced";
  }

  /** Whether nothing is missing at the head, so that there is time for other requests. */
  get isAtRest(): boolean {
    return this.state === "synced" && !this.#range.isActive;
  }

  start(): void {
    if (this.#stop.length > 0) return;
    this.#unknownBlocks.start();
    this.#dataLookups.start();
    this.#stop.push(
      this.#peers.onChange(() => this.#evaluate()),
      this.#chain.clock.onSlot(() => this.#onSlot()),
      this.#chain.events.on("head", () => this.#onHead()),
    );
    this.#evaluate();
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    this.#closed.abort(new Error("The node stopped before it was synced."));
    await Promise.all([this.#range.close(), this.#unknownBlocks.close(), this.#dataLookups.close()]);
  }

  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownParent(signed, peerId);
  }

  onUnknownBlock(root: RootHex, peerId: string): void {
    if (!this.#closed.signal.aborted) this.#unknownBlocks.onUnknownBlock(root, peerId);
  }

  /** The node was suspended: it counts as synced again only when its head is level or peers have confirmed it anew. */
  onSuspended(): void {
    this.#isResuming = true;
    this.#agreement.discard();
    this.#agreement.ask("all");
    this.#evaluate();
  }

  /** Calls the listener when the state is another. Returns the function that ends it. */
  onChange(listener: (state: SyncState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when it comes to rest, which may be later than it is synced. Returns the function that ends it. */
  onRest(listener: () => void): () => void {
    this.#restListeners.add(listener);
    return () => this.#restListeners.delete(listener);
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
   * The clock decides when the head is level with it, as nobody can be ahead then. Otherwise the slots since the head may be
   * empty or missed, and the peers decide: who just joined or was away acts only when they have nothing more, and anything at all.
   * What a few peers claim to have, and nobody can check before it is there, keeps no synced node from its duties; when
   * most claim it, the node may be on a branch that the others have left.
   */
  get #isSynced(): boolean {
    if (this.#authority === "sole" || (this.#authority === "founder" && !this.#isInformed)) return true;
    if (this.#range.isActive && this.#range.isClaimedByMost) return false;
    const behind = this.#chain.status.syncDistance;
    if (behind <= LEVEL_SLOTS) return true;
    if (this.#peers.list().length === 0) return behind <= this.#horizonSlots;
    const wasSynced = this.#announced === "synced" && !this.#isResuming;
    if (this.#range.isActive && !wasSynced) return false;
    if (wasSynced && behind <= QUIET_SLOTS) return true;
    if (this.#agreement.isReached && (wasSynced || !this.#agreement.isOnNothing)) return true;
    return behind <= this.#horizonSlots && !this.#range.isActive;
  }

  /** Whether ranges are fetched because the node lacks what they bring. */
  get #isCatchingUp(): boolean {
    return this.#range.isActive && this.isSyncing;
  }

  #onSlot(): void {
    if (this.#chain.status.syncDistance > LEVEL_SLOTS) this.#agreement.ask("all");
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
      this.#agreement.ask("outdated");
      this.#unknownBlocks.resume();
    }
    this.#announce();
    if (!this.isSyncing) this.#range.endSync();
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
      this.#warnOfNothing();
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
      if (slot >= clock.currentSlot || slot <= finalizedSlot || slot > head.slot + LEVEL_SLOTS) continue;
      if (!forkChoice.has(root)) this.#unknownBlocks.onUnknownBlock(root, peerId);
    }
  }

  /** Once, until it is synced after all. */
  #warnOfNothing(): void {
    const { isSyncing } = this;
    const isOnNothing = isSyncing && this.#agreement.isReached && this.#agreement.isOnNothing;
    if (isOnNothing && !this.#hasWarnedOfNothing) {
      this.#logger.warn(
        "No peer has more than the state that this node began with, and no block since then, so that it waits for one that follows the " +
          "chain: give --peer or --bootnodes, or --sync-horizon where the chain is to begin only now",
        { behind: this.#chain.status.syncDistance, peers: this.#peers.list().length },
      );
    }
    this.#hasWarnedOfNothing = isSyncing && (this.#hasWarnedOfNothing || isOnNothing);
  }

  #announce(): void {
    this.#announceState();
    const { isAtRest } = this;
    if (isAtRest && !this.#wasAtRest) for (const listener of [...this.#restListeners]) listener();
    this.#wasAtRest = isAtRest;
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
        this.#logger.error("A listener to the state of syncing failed", { state, error });
      }
    }
  }
}
