import type { RootHex } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import type { BlockRejection } from "../chain/import/block-rejection.ts";
import { LruMap } from "../collections/lru-map.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { RangeSyncLimits } from "./limits.ts";
import { type RangeOutcome, RangeRun } from "./range-run.ts";
import type { SyncChain } from "./sync-chain.ts";
import { SyncProgress } from "./sync-progress.ts";
import { type ChainPosition, type SyncTarget, selectTarget } from "./sync-target.ts";

const MAX_BACKOFFS = 256;
const MAX_BRANCHES = 8;
const MAX_LOGGED_REJECTIONS = 64;
/** Maximum number of peers tried one at a time if their chains differ. */
const MAX_SOLE_PEERS = 8;
/** Number of failed requests tolerated from each of these peers. */
const SOLE_PEER_FAILURES = 3;

interface TargetBackoff {
  until: number;
  times: number;
}

interface RangeSyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  timers: Pick<Timers, "now" | "sleep">;
  logger: Logger;
  limits: RangeSyncLimits;
  slotsPerEpoch: number;
  /** Called when a run starts or ends. */
  onChange(): void;
}

/** Runs range sync to one target after another while peers are ahead. */
export class RangeSync {
  readonly #parts: RangeSyncParts;
  readonly #progress: SyncProgress;
  readonly #backoffs = new LruMap<RootHex, TargetBackoff>(MAX_BACKOFFS);
  readonly #branches = new LruMap<RootHex, SyncTarget>(MAX_BRANCHES);
  /** Blocks whose rejection by the execution engine has been logged. */
  readonly #loggedRejections = new LruMap<RootHex, true>(MAX_LOGGED_REJECTIONS);
  readonly #closed = new AbortController();
  #isActive = false;
  /** True if the next run continues the current sync. */
  #isSyncInProgress = false;
  #claimants: ReadonlySet<string> = new Set();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RangeSyncParts) {
    this.#parts = parts;
    this.#progress = new SyncProgress(parts);
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** True if the current target is claimed by a majority of the peers, and by more than one peer. */
  get isClaimedByMost(): boolean {
    const peers = this.#parts.peers.list();
    const claiming = peers.filter(({ peerId }) => this.#claimants.has(peerId)).length;
    return claiming > 1 && 2 * claiming > peers.length;
  }

  /** Starts a run if there is a target and no run is in progress. */
  evaluate(): void {
    if (this.#isActive || this.#closed.signal.aborted) return;
    const target = this.#nextTarget();
    if (target === null) return;
    this.#claimants = target.claimants;
    this.#isActive = true;
    this.#parts.onChange();
    this.#running = this.#follow(target);
  }

  /** Adds a branch that is too long to be looked up by root. */
  addBranch(branch: SyncTarget): void {
    if (this.#isInBackoff(branch.root)) return;
    this.#branches.set(branch.root, branch);
    this.evaluate();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  /** Returns the number of slots fetched since the sync started, and their rate. */
  summary(): ReturnType<SyncProgress["summary"]> {
    return this.#progress.summary();
  }

  /** Ends the current sync. The next run starts a new summary. */
  endSync(): void {
    this.#isSyncInProgress = false;
  }

  async #follow(first: SyncTarget): Promise<void> {
    this.#progress.begin({ continues: this.#isSyncInProgress });
    this.#isSyncInProgress = true;
    let target: SyncTarget | null = first;
    while (target !== null) {
      const outcome = await this.#run(target);
      if (outcome === null) break;
      target = this.#nextTarget();
    }
    this.#isActive = false;
    if (!this.#closed.signal.aborted) this.#parts.onChange();
  }

  /** Returns null if the node is shutting down. */
  async #run(target: SyncTarget): Promise<RangeOutcome | null> {
    const { root } = target;
    this.#branches.delete(root);
    const { outcome, isDisputed } = await this.#attempt(target);
    const last = outcome === "undelivered" && isDisputed ? await this.#tryEachPeer(target) : outcome;
    if (last === "reached") this.#backoffs.delete(root);
    else if (last !== null) this.#backOff(root, last);
    return last;
  }

  /** Tries one peer at a time, since the peers' chains differ and it is unknown which peers are honest. */
  async #tryEachPeer(target: SyncTarget): Promise<RangeOutcome | null> {
    const claimants = this.#parts.peers.list().filter(({ peerId }) => target.claimants.has(peerId));
    for (const { peerId } of claimants.slice(0, MAX_SOLE_PEERS)) {
      const { outcome } = await this.#attempt(target, peerId);
      if (outcome === null || outcome === "reached" || outcome === "broken") return outcome;
    }
    return "undelivered";
  }

  async #attempt(
    target: SyncTarget,
    solePeer?: string,
  ): Promise<{ outcome: RangeOutcome | null; isDisputed: boolean }> {
    const { chain, logger, limits } = this.#parts;
    const { kind, slot, root } = target;
    this.#claimants = target.claimants;
    const maxBatchFailures = solePeer === undefined ? limits.maxBatchFailures : SOLE_PEER_FAILURES;
    const run = new RangeRun({
      ...this.#parts,
      limits: { ...limits, maxBatchFailures },
      target,
      solePeer,
      onRejectedPayload: (rejection) => this.#logRejection(rejection),
      onProgress: () => this.#progress.report(target.slot, run.peerCount),
    });
    logger.debug("Range sync started", {
      head: chain.head.slot,
      target: slot,
      kind,
      root,
      peers: run.peerCount,
      solePeer,
    });
    this.#progress.report(slot, run.peerCount);
    try {
      const outcome = await run.run(this.#closed.signal);
      logger.debug("Range sync finished", { head: chain.head.slot, target: slot, kind, root, outcome });
      return { outcome, isDisputed: run.isDisputed };
    } catch (error) {
      if (this.#closed.signal.aborted) return { outcome: null, isDisputed: false };
      logger.error("Range sync failed", { target: slot, root, error });
      return { outcome: "broken", isDisputed: false };
    }
  }

  /** Warns only once per block, since peers keep offering it. */
  #logRejection({ slot, root = "", message }: BlockRejection): void {
    const level = this.#loggedRejections.get(root) ? "debug" : "warn";
    this.#loggedRejections.set(root, true);
    this.#parts.logger[level]("Sync is stuck at a block that the execution client rejects", {
      slot,
      root,
      detail: message,
    });
  }

  #nextTarget(): SyncTarget | null {
    const { chain, peers, slotsPerEpoch } = this.#parts;
    const position: ChainPosition = {
      headSlot: chain.head.slot,
      finalizedEpoch: chain.forkChoice.finalized.epoch,
      currentSlot: chain.clock.currentSlot,
      slotsPerEpoch,
      has: (root) => chain.forkChoice.has(root),
      isInBackoff: (root) => this.#isInBackoff(root),
    };
    return selectTarget(peers.list(), position) ?? this.#nextBranch(position);
  }

  #nextBranch({ has, isInBackoff, finalizedEpoch, slotsPerEpoch }: ChainPosition): SyncTarget | null {
    for (const branch of [...this.#branches.values()]) {
      if (!has(branch.root) && !isInBackoff(branch.root) && branch.slot > finalizedEpoch * slotsPerEpoch) return branch;
      this.#branches.delete(branch.root);
    }
    return null;
  }

  #isInBackoff(root: RootHex): boolean {
    const dispute = this.#backoffs.get(root);
    return dispute !== undefined && dispute.until > this.#parts.timers.now();
  }

  #backOff(root: RootHex, outcome: RangeOutcome): void {
    const { limits, timers } = this.#parts;
    // Losing peers says nothing about the target. The backoff prevents a busy loop if peers are unstable.
    const times = (this.#backoffs.get(root)?.times ?? 0) + (outcome === "undelivered" ? 1 : 0);
    const pause =
      outcome === "deserted"
        ? limits.backoffMs
        : Math.min(limits.targetBackoffMs * 2 ** times, limits.maxTargetBackoffMs);
    this.#backoffs.set(root, { until: timers.now() + pause, times });
  }
}
