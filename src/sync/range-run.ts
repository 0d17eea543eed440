import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Timers } from "../async/timers.ts";
import { BlockRejection } from "../chain/import/block-rejection.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { Batch } from "./batch.ts";
import { BatchDownloads } from "./batch-downloads.ts";
import { BatchPeers } from "./batch-peers.ts";
import type { RangeSyncLimits } from "./limits.ts";
import { RangeData, type RangeSegment } from "./range-data.ts";
import { RangePayloads } from "./range-payloads.ts";
import { NO_FAULT_REJECTIONS, RangePenalties } from "./range-penalties.ts";
import type { ServedPayloads } from "./served-payloads.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/** Maximum depth of a reorg near a peer's head that is not penalized. */
const REORG_SLOTS = 4;

/**
 * `deserted`: no peer is left. `undelivered`: the peers do not serve the target they claim to have. `broken`: this node
 * failed.
 */
export type RangeOutcome = "reached" | "deserted" | "undelivered" | "broken";

interface RangeRunParts {
  chain: SyncChain;
  peers: SyncPeers;
  target: SyncTarget;
  /** The only peer to use. Unlike a group of peers, it must serve a single chain that leads to the target. */
  solePeer?: string;
  timers: Pick<Timers, "now" | "sleep">;
  logger: Logger;
  limits: RangeSyncLimits;
  slotsPerEpoch: number;
  /** Called if the sync stops because the execution engine rejected a payload. */
  onRejectedPayload(rejection: BlockRejection): void;
  /** Called after blocks have been imported. */
  onProgress(): void;
}

/** Syncs to a single target. Downloads batches concurrently and imports them in order. */
export class RangeRun {
  readonly #parts: RangeRunParts;
  readonly #batchPeers: BatchPeers;
  readonly #downloads: BatchDownloads;
  readonly #penalties: RangePenalties;
  readonly #data: RangeData;
  readonly #payloads: RangePayloads;
  /** Batches that have not been imported yet, in order. */
  #window: Batch[] = [];
  /** Imported batches that may lack blocks at the end: the last batch with blocks and the empty ones after it. */
  #unconfirmed: Batch[] = [];
  #nextSlot: Slot;
  /** Slot of the last imported block. */
  #lastSlot: Slot = 0;
  #stepsBack = 0;
  /** True once blocks from this run have been imported, which proves that the run started at a common ancestor. */
  #isConnected = false;
  #hasRefreshedStatus = false;
  #isDisputed = false;
  /** True while the execution engine does not respond. */
  #isWaitingForEngine = false;
  #wake: () => void = () => {};

  constructor(parts: RangeRunParts) {
    const { peers, timers, limits } = parts;
    this.#parts = parts;
    this.#batchPeers = new BatchPeers(parts);
    this.#downloads = new BatchDownloads({
      peers,
      batchPeers: this.#batchPeers,
      timers,
      stallCheckMs: limits.stallCheckMs,
      isUrgent: (batch) => this.#window[0] === batch,
      onSettled: () => {
        // The window is filled even during an import.
        this.#fillWindow();
        this.#wake();
      },
    });
    this.#penalties = new RangePenalties({ ...parts, batchPeers: this.#batchPeers });
    this.#data = new RangeData(parts);
    this.#payloads = new RangePayloads(parts, this.#data);
    this.#nextSlot = this.#firstSlot();
  }

  /** True if responses from different peers contradicted each other. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  get peerCount(): number {
    return this.#batchPeers.claimantCount;
  }

  /** Runs the sync. Rejects only if the signal is aborted. */
  async run(signal: AbortSignal): Promise<RangeOutcome> {
    const stopListening = this.#parts.peers.onChange(() => this.#wake());
    const onAbort = () => this.#wake();
    signal.addEventListener("abort", onAbort);
    try {
      return await this.#run(signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
      stopListening();
      this.#downloads.close();
    }
  }

  async #run(signal: AbortSignal): Promise<RangeOutcome> {
    const { solePeer } = this.#parts;
    for (;;) {
      signal.throwIfAborted();
      this.#fillWindow();
      const first = this.#window[0];
      if (first === undefined) {
        if (this.#isReached()) {
          this.#penalties.settle(this.#unconfirmed);
          return "reached";
        }
        if (!this.#handleMissingTarget()) return "undelivered";
      } else if (first.state === "downloaded") {
        if (!(await this.#take(first, signal))) return "broken";
      } else if (this.#isExhausted(first)) {
        if (this.#isDisputed && solePeer !== undefined)
          this.#penalties.penalize([solePeer], "blocks do not form a chain");
        return "undelivered";
      } else if (this.#downloads.count === 0 && !this.#batchPeers.hasPeer(first)) {
        return "deserted";
      } else {
        await this.#nextEvent();
      }
    }
  }

  /**
   * Returns the slot after our head. If the target is not after our head, the target is on another branch, and the run
   * starts after the finalized slot.
   */
  #firstSlot(): Slot {
    const { chain, target } = this.#parts;
    const first = this.#earliestSlot();
    return chain.head.slot < target.slot ? Math.max(first, chain.head.slot + 1) : first;
  }

  #earliestSlot(): Slot {
    return finalizedSlotOf(this.#parts.chain, this.#parts.slotsPerEpoch) + 1;
  }

  /** Starts downloads until the window is full. */
  #fillWindow(): void {
    const { limits, target, peers } = this.#parts;
    while (this.#window.length < limits.maxBatches && this.#nextSlot <= target.slot) {
      const count = Math.min(limits.batchSlots, target.slot - this.#nextSlot + 1);
      this.#window.push(new Batch({ startSlot: this.#nextSlot, count }));
      this.#nextSlot += count;
    }
    if (this.#nextSlot > target.slot && !this.#hasRefreshedStatus) {
      // The peers' chains have grown in the meantime. Their new statuses yield the next target.
      this.#hasRefreshedStatus = true;
      for (const { peerId } of peers.list()) if (target.claimants.has(peerId)) peers.refreshStatus(peerId);
    }
    for (const batch of this.#window.slice(0, limits.maxBatches)) {
      if (batch.state !== "waiting" || this.#isExhausted(batch)) continue;
      const peerId = this.#batchPeers.pick(batch);
      if (peerId !== null) this.#downloads.begin(batch, peerId);
    }
  }

  #isExhausted({ failures, rejections }: Batch): boolean {
    return failures >= this.#parts.limits.maxBatchFailures || rejections >= this.#parts.limits.maxBatchRejections;
  }

  async #nextEvent(): Promise<void> {
    const over = new AbortController();
    // A backoff may have ended since the last selection without triggering an event.
    const delay = this.#batchPeers.msUntilRetry ?? (this.#downloads.count === 0 ? 0 : null);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (delay !== null) this.#parts.timers.sleep(delay, over.signal).then(resolve, () => {});
    });
    over.abort();
  }

  /** Returns false if the node itself failed. */
  async #take(batch: Batch, signal: AbortSignal): Promise<boolean> {
    const { chain, logger } = this.#parts;
    const earliest = this.#earliestSlot();
    const blocks = batch.blocks.filter(({ message }) => message.slot >= earliest);
    const first = blocks[0];
    if (first === undefined) {
      this.#window.shift();
      batch.markImported();
      this.#unconfirmed.push(batch);
      return true;
    }
    const parentRoot = toRootHex(first.message.parentRoot);
    if (!chain.forkChoice.has(parentRoot)) {
      this.#handleGap(batch);
      return true;
    }
    // Determined before the import, because finality may prune the parent from fork choice, but applied after the
    // import.
    const withholders = this.#penalties.withholders(this.#unconfirmed, parentRoot);
    try {
      await this.#import(blocks, batch.payloads, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BlockRejection) {
        // The batch is kept and will be imported again.
        if (error.reason === "engine-unavailable") await this.#waitForEngine(error, signal);
        else this.#reject(batch, error);
        return true;
      }
      logger.error("Could not import blocks", { ...batch.range, error });
      return false;
    }
    this.#isWaitingForEngine = false;
    this.#window.shift();
    batch.markImported();
    this.#penalties.penalize(withholders, "withheld blocks");
    this.#penalties.defer(this.#unconfirmed);
    this.#unconfirmed = [batch];
    this.#isConnected = true;
    this.#lastSlot = blocks.at(-1)?.message.slot ?? this.#lastSlot;
    this.#parts.onProgress();
    return true;
  }

  /** Imports segment by segment. While one segment is being imported, the data for the next one is fetched. */
  async #import(blocks: readonly SignedBeaconBlock[], payloads: ServedPayloads, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const fetchData = (part: RangeSegment | undefined): Promise<void> => {
      const fetched = part ? this.#data.fetch(part, AbortSignal.any([signal, over.signal])) : Promise.resolve();
      // This promise is awaited later. Handling its rejection here prevents an unhandled rejection until then.
      fetched.catch(() => undefined);
      return fetched;
    };
    const parts = this.#data.split(blocks, payloads);
    let fetched = fetchData(parts[0]);
    try {
      for (const [index, part] of parts.entries()) {
        await fetched;
        fetched = fetchData(parts[index + 1]);
        await this.#payloads.import(part.blocks, payloads, signal);
      }
    } finally {
      over.abort();
    }
  }

  async #waitForEngine({ slot, message: detail }: BlockRejection, signal: AbortSignal): Promise<void> {
    const { chain, logger } = this.#parts;
    if (!this.#isWaitingForEngine) logger.warn("Sync is waiting for the execution engine", { slot, detail });
    this.#isWaitingForEngine = true;
    await chain.pendingVerdicts.untilRetryDue(signal);
  }

  #reject(batch: Batch, rejection: BlockRejection): void {
    const { logger } = this.#parts;
    const { servingPeer, range } = batch;
    const { reason, slot, root, message } = rejection;
    if (reason === "invalid-payload" || reason === "invalid-parent") {
      this.#parts.onRejectedPayload(rejection);
    } else if (NO_FAULT_REJECTIONS.has(reason)) {
      logger.debug("Blocks cannot be imported now", { ...range, peer: servingPeer, reason, slot, root, message });
    } else {
      logger.warn("Rejected block from peer", { slot, root, peer: servingPeer, reason, detail: message });
    }
    if (reason === "unknown-parent-payload" && batch.rejections === 0) {
      logger.warn("No peer serves the payloads of the next blocks", { slot, root, detail: message });
    }
    if (reason === "data-unavailable" && batch.rejections === 0) {
      logger.warn("No peer serves the data of the next blocks", { slot, root, detail: message });
    }
    if (servingPeer !== null) this.#penalties.onRejected(servingPeer, reason);
    batch.rejections++;
    batch.retry();
  }

  /**
   * Handles a batch whose first parent is unknown. Either the batch belongs to another chain, or blocks before it were
   * withheld. The batch and the unconfirmed batches before it are downloaded again, from other peers if possible, and
   * the new responses decide. If there is no unconfirmed batch, the chains diverged earlier.
   */
  #handleGap(batch: Batch): void {
    const { servingPeer } = batch;
    this.#parts.logger.debug("Blocks do not connect", {
      ...batch.range,
      peer: servingPeer,
      unconfirmed: this.#unconfirmed.length,
    });
    if (this.#canStepBack()) {
      this.#stepBack();
      return;
    }
    if (this.#unconfirmed.length === 0 && servingPeer !== null) {
      // Only finalized blocks precede the batch, so the batch itself is wrong.
      this.#penalties.penalize([servingPeer], "blocks do not connect to the finalized chain");
    }
    this.#isDisputed = true;
    batch.rejections++;
    batch.dispute();
    this.#disputeUnconfirmed();
  }

  #disputeUnconfirmed(): void {
    for (const batch of this.#unconfirmed) {
      batch.rejections++;
      batch.dispute();
    }
    this.#window.unshift(...this.#unconfirmed);
    this.#unconfirmed = [];
  }

  /** Returns true if there are slots before the first unconfirmed batch that can be downloaded. */
  #canStepBack(): boolean {
    return (!this.#isConnected || this.#unconfirmed.length === 0) && this.#unsettledSlot() > this.#earliestSlot();
  }

  #unsettledSlot(): Slot {
    return (this.#unconfirmed[0] ?? this.#window[0])?.range.startSlot ?? this.#nextSlot;
  }

  /** Restarts at an earlier slot, going back twice as far each time. */
  #stepBack(): void {
    const { limits, logger } = this.#parts;
    const end = this.#unsettledSlot();
    const start = Math.max(this.#earliestSlot(), end - limits.batchSlots * 2 ** this.#stepsBack++);
    logger.debug("Chains may have diverged earlier", { from: start, to: end });
    const earlier: Batch[] = [];
    for (let startSlot = start; startSlot < end; startSlot += limits.batchSlots) {
      earlier.push(new Batch({ startSlot, count: Math.min(limits.batchSlots, end - startSlot) }));
    }
    for (const batch of this.#unconfirmed) batch.dispute();
    this.#window.unshift(...earlier, ...this.#unconfirmed);
    this.#unconfirmed = [];
  }

  #isReached(): boolean {
    const { chain, target } = this.#parts;
    return chain.forkChoice.has(target.root) || target.slot < this.#earliestSlot();
  }

  /**
   * Handles the case that all batches have been imported without reaching the target. Returns false if no remaining
   * peer could serve the missing blocks.
   */
  #handleMissingTarget(): boolean {
    const { target, solePeer } = this.#parts;
    if (this.#canStepBack()) {
      this.#stepBack();
      return true;
    }
    const last = this.#unconfirmed.at(-1);
    if (!last || this.#isExhausted(last)) return false;
    if (this.#unconfirmed.some((batch) => this.#batchPeers.hasUntriedClaimant(batch))) {
      this.#disputeUnconfirmed();
      return true;
    }
    // A reorg may have replaced the claimed head, in which case nearly all blocks have been served.
    if (target.kind === "head" && this.#lastSlot + REORG_SLOTS >= target.slot) return false;
    const debtors =
      solePeer === undefined ? last.peersWithoutBlocks().filter((id) => target.claimants.has(id)) : [solePeer];
    this.#penalties.penalize(debtors, "did not serve the blocks of its status");
    return false;
  }
}
