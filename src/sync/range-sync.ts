import type { RootHex } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import type { BlockRejection } from "../chain/import/block-rejection.ts";
import { LruMap } from "../chain/lru-map.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { RangeSyncLimits } from "./limits.ts";
import { type RangeOutcome, RangeRun } from "./range-run.ts";
import type { SyncChain } from "./sync-chain.ts";
import { SyncProgress } from "./sync-progress.ts";
import { chooseTarget, type SyncStanding, type SyncTarget } from "./sync-target.ts";

const DOUBTS_HELD = 256;
const BRANCHES_HELD = 8;
const REFUSALS_HELD = 64;
/** How many peers are followed one by one when they do not agree. */
const MAX_GUIDES = 8;
/** How often each of them may fail to answer, while the others wait. */
const GUIDE_FAILURES = 3;

interface Doubt {
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
  /** Called when a run began or ended. */
  onChange(): void;
}

/** Runs from target to target, one at a time, as long as peers have what we lack. */
export class RangeSync {
  readonly #parts: RangeSyncParts;
  readonly #progress: SyncProgress;
  readonly #doubts = new LruMap<RootHex, Doubt>(DOUBTS_HELD);
  readonly #branches = new LruMap<RootHex, SyncTarget>(BRANCHES_HELD);
  /** Blocks of which it was told that the execution engine refuses them. */
  readonly #toldRefusals = new LruMap<RootHex, true>(REFUSALS_HELD);
  readonly #closed = new AbortController();
  #isActive = false;
  /** Whether the next stretch goes on with the sync of the last one. */
  #isSyncUnderWay = false;
  #claimants: ReadonlySet<string> = new Set();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RangeSyncParts) {
    this.#parts = parts;
    this.#progress = new SyncProgress(parts);
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** Whether most of the peers, and not one alone, claim to have what is being fetched. */
  get isClaimedByMost(): boolean {
    const peers = this.#parts.peers.list();
    const claiming = peers.filter(({ peerId }) => this.#claimants.has(peerId)).length;
    return claiming > 1 && 2 * claiming > peers.length;
  }

  /** Begins with the next target if there is one and nothing is under way. */
  evaluate(): void {
    if (this.#isActive || this.#closed.signal.aborted) return;
    const target = this.#nextTarget();
    if (target === null) return;
    this.#claimants = target.claimants;
    this.#isActive = true;
    this.#parts.onChange();
    this.#running = this.#follow(target);
  }

  /** A branch that is too long to be fetched block by block. */
  addBranch(branch: SyncTarget): void {
    if (this.#isDoubted(branch.root)) return;
    this.#branches.set(branch.root, branch);
    this.evaluate();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  /** How much was fetched since the sync began, and how fast. */
  summary(): ReturnType<SyncProgress["summary"]> {
    return this.#progress.summary();
  }

  /** The sync is over: what is fetched from now on belongs to another. */
  endSync(): void {
    this.#isSyncUnderWay = false;
  }

  async #follow(first: SyncTarget): Promise<void> {
    this.#progress.begin({ goesOn: this.#isSyncUnderWay });
    this.#isSyncUnderWay = true;
    let target: SyncTarget | null = first;
    while (target !== null) {
      const outcome = await this.#run(target);
      if (outcome === null) break;
      target = this.#nextTarget();
    }
    this.#isActive = false;
    if (!this.#closed.signal.aborted) this.#parts.onChange();
  }

  /** Null when the node is about to close. */
  async #run(target: SyncTarget): Promise<RangeOutcome | null> {
    const { root } = target;
    this.#branches.delete(root);
    const { outcome, isDisputed } = await this.#attempt(target);
    const last = outcome === "undelivered" && isDisputed ? await this.#followEach(target) : outcome;
    if (last === "reached") this.#doubts.delete(root);
    else if (last !== null) this.#doubt(root, last);
    return last;
  }

  /** One peer after the other, because they do not give the same chain and it is not known which of them are honest. */
  async #followEach(target: SyncTarget): Promise<RangeOutcome | null> {
    const claimants = this.#parts.peers.list().filter(({ peerId }) => target.claimants.has(peerId));
    for (const { peerId } of claimants.slice(0, MAX_GUIDES)) {
      const { outcome } = await this.#attempt(target, peerId);
      if (outcome === null || outcome === "reached" || outcome === "broken") return outcome;
    }
    return "undelivered";
  }

  async #attempt(target: SyncTarget, guide?: string): Promise<{ outcome: RangeOutcome | null; isDisputed: boolean }> {
    const { chain, logger, limits } = this.#parts;
    const { kind, slot, root } = target;
    this.#claimants = target.claimants;
    const failuresPerBatch = guide === undefined ? limits.failuresPerBatch : GUIDE_FAILURES;
    const run = new RangeRun({
      ...this.#parts,
      limits: { ...limits, failuresPerBatch },
      target,
      guide,
      onRefusedPayload: (rejection) => this.#tellRefusal(rejection),
      onProgress: () => this.#progress.report(target.slot, run.peerCount),
    });
    logger.debug("Sync begins", { head: chain.head.slot, target: slot, kind, root, peers: run.peerCount, guide });
    this.#progress.report(slot, run.peerCount);
    try {
      const outcome = await run.run(this.#closed.signal);
      logger.debug("Sync ends", { head: chain.head.slot, target: slot, kind, root, outcome });
      return { outcome, isDisputed: run.isDisputed };
    } catch (error) {
      if (this.#closed.signal.aborted) return { outcome: null, isDisputed: false };
      logger.error("Syncing failed", { target: slot, root, error });
      return { outcome: "broken", isDisputed: false };
    }
  }

  /** Once of a block: the peers go on to offer it. */
  #tellRefusal({ slot, root = "", message }: BlockRejection): void {
    const level = this.#toldRefusals.get(root) ? "debug" : "warn";
    this.#toldRefusals.set(root, true);
    this.#parts.logger[level]("The sync cannot pass a block that the execution client refuses; look after the client", {
      slot,
      root,
      detail: message,
    });
  }

  #nextTarget(): SyncTarget | null {
    const { chain, peers, slotsPerEpoch } = this.#parts;
    const standing: SyncStanding = {
      headSlot: chain.head.slot,
      finalizedEpoch: chain.forkChoice.finalized.epoch,
      currentSlot: chain.clock.currentSlot,
      slotsPerEpoch,
      has: (root) => chain.forkChoice.has(root),
      isDoubted: (root) => this.#isDoubted(root),
    };
    return chooseTarget(peers.list(), standing) ?? this.#nextBranch(standing);
  }

  #nextBranch({ has, isDoubted, finalizedEpoch, slotsPerEpoch }: SyncStanding): SyncTarget | null {
    for (const branch of [...this.#branches.values()]) {
      if (!has(branch.root) && !isDoubted(branch.root) && branch.slot > finalizedEpoch * slotsPerEpoch) return branch;
      this.#branches.delete(branch.root);
    }
    return null;
  }

  #isDoubted(root: RootHex): boolean {
    const doubt = this.#doubts.get(root);
    return doubt !== undefined && doubt.until > this.#parts.timers.now();
  }

  #doubt(root: RootHex, outcome: RangeOutcome): void {
    const { limits, timers } = this.#parts;
    // That peers left says nothing about the target; the pause keeps peers that come and go from making us spin.
    const times = (this.#doubts.get(root)?.times ?? 0) + (outcome === "undelivered" ? 1 : 0);
    const pause = outcome === "deserted" ? limits.restMs : Math.min(limits.doubtMs * 2 ** times, limits.maxDoubtMs);
    this.#doubts.set(root, { until: timers.now() + pause, times });
  }
}
