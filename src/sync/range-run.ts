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
import { NO_FAULT_REJECTIONS, RangePenalties } from "./penalties.ts";
import { RangeData, type RangePart } from "./range-data.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/** How many of the last blocks before a head may be others than when the head was told. */
const REORG_SLOTS = 4;

/** `deserted`: no peer is left to ask. `undelivered`: the peers do not give what they claim to have. `broken`: this node failed. */
export type RangeOutcome = "reached" | "deserted" | "undelivered" | "broken";

interface RangeRunParts {
  chain: SyncChain;
  peers: SyncPeers;
  target: SyncTarget;
  /** The only peer to ask: unlike several, it has to give one chain that leads to the target. */
  guide?: string;
  timers: Pick<Timers, "now" | "sleep">;
  logger: Logger;
  limits: RangeSyncLimits;
  slotsPerEpoch: number;
  /** Called when the sync cannot go on because of what the execution engine said of a payload. */
  onRefusedPayload(rejection: BlockRejection): void;
  /** Called when blocks were imported. */
  onProgress(): void;
}

/** Brings the chain to one target: batches of slots are downloaded side by side and imported in order. */
export class RangeRun {
  readonly #parts: RangeRunParts;
  readonly #batchPeers: BatchPeers;
  readonly #downloads: BatchDownloads;
  readonly #penalties: RangePenalties;
  readonly #data: RangeData;
  /** Batches that are not on the chain yet, in order. */
  #window: Batch[] = [];
  /** Batches whose end is not proved yet: the last one with blocks, and the empty ones after it. */
  #unproved: Batch[] = [];
  #nextSlot: Slot;
  /** Of the last block that was imported. */
  #lastSlot: Slot = 0;
  #stepsBack = 0;
  /** Whether blocks of this run are on our chain, so that the run began where both chains were one. */
  #isConnected = false;
  #isRenewed = false;
  #isDisputed = false;
  /** Whether the execution engine gave no answer to the last question. */
  #isHalted = false;
  #wake: () => void = () => {};

  constructor(parts: RangeRunParts) {
    const { peers, timers, limits } = parts;
    this.#parts = parts;
    this.#batchPeers = new BatchPeers(parts);
    this.#downloads = new BatchDownloads({
      peers,
      batchPeers: this.#batchPeers,
      timers,
      patienceMs: limits.patienceMs,
      isUrgent: (batch) => this.#window[0] === batch,
      onSettled: () => {
        // At once, also while blocks are imported.
        this.#ask();
        this.#wake();
      },
    });
    this.#penalties = new RangePenalties({ ...parts, batchPeers: this.#batchPeers });
    this.#data = new RangeData(parts);
    this.#nextSlot = this.#firstSlot();
  }

  /** Whether peers gave what does not fit together. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  get peerCount(): number {
    return this.#batchPeers.claimantCount;
  }

  /** Rejects only when the signal is aborted. */
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
    const { guide } = this.#parts;
    for (;;) {
      signal.throwIfAborted();
      this.#ask();
      const first = this.#window[0];
      if (first === undefined) {
        if (this.#isReached()) {
          this.#penalties.settle(this.#unproved);
          return "reached";
        }
        if (!this.#seekEnd()) return "undelivered";
      } else if (first.state === "downloaded") {
        if (!(await this.#take(first, signal))) return "broken";
      } else if (this.#isSpent(first)) {
        if (this.#isDisputed && guide !== undefined) this.#penalties.penalize([guide], "its blocks are no chain");
        return "undelivered";
      } else if (this.#downloads.count === 0 && !this.#batchPeers.hasAny(first)) {
        return "deserted";
      } else {
        await this.#untilSomethingHappens();
      }
    }
  }

  /** From our head on; when the target is not after it, the target is on another branch, which began before. */
  #firstSlot(): Slot {
    const { chain, target } = this.#parts;
    const first = this.#earliestSlot();
    return chain.head.slot < target.slot ? Math.max(first, chain.head.slot + 1) : first;
  }

  #earliestSlot(): Slot {
    return finalizedSlotOf(this.#parts.chain, this.#parts.slotsPerEpoch) + 1;
  }

  /** Keeps as many batches under way as are allowed to be held. */
  #ask(): void {
    const { limits, target, peers } = this.#parts;
    while (this.#window.length < limits.heldBatches && this.#nextSlot <= target.slot) {
      const count = Math.min(limits.batchSlots, target.slot - this.#nextSlot + 1);
      this.#window.push(new Batch({ startSlot: this.#nextSlot, count }));
      this.#nextSlot += count;
    }
    if (this.#nextSlot > target.slot && !this.#isRenewed) {
      // The peers' chains grew while we followed; what they tell now is the next target.
      this.#isRenewed = true;
      for (const { peerId } of peers.list()) if (target.claimants.has(peerId)) peers.refreshStatus(peerId);
    }
    for (const batch of this.#window.slice(0, limits.heldBatches)) {
      if (batch.state !== "waiting" || this.#isSpent(batch)) continue;
      const peerId = this.#batchPeers.pick(batch);
      if (peerId !== null) this.#downloads.begin(batch, peerId);
    }
  }

  #isSpent({ failures, refusals }: Batch): boolean {
    return failures >= this.#parts.limits.failuresPerBatch || refusals >= this.#parts.limits.refusalsPerBatch;
  }

  async #untilSomethingHappens(): Promise<void> {
    const over = new AbortController();
    // A rest may have ended since everybody was found busy or at rest; then nothing else would tell.
    const rest = this.#batchPeers.untilRested ?? (this.#downloads.count === 0 ? 0 : null);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (rest !== null) this.#parts.timers.sleep(rest, over.signal).then(resolve, () => {});
    });
    over.abort();
  }

  /** False when the node itself failed. */
  async #take(batch: Batch, signal: AbortSignal): Promise<boolean> {
    const { chain, logger } = this.#parts;
    const earliest = this.#earliestSlot();
    const blocks = batch.blocks.filter(({ message }) => message.slot >= earliest);
    const first = blocks[0];
    if (first === undefined) {
      this.#window.shift();
      batch.taken();
      this.#unproved.push(batch);
      return true;
    }
    const parentRoot = toRootHex(first.message.parentRoot);
    if (!chain.forkChoice.has(parentRoot)) {
      this.#mend(batch);
      return true;
    }
    // Found before the import, as finality may then take the parent out of fork choice, and told after it.
    const withholders = this.#penalties.withholders(this.#unproved, parentRoot);
    try {
      await this.#import(blocks, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BlockRejection) {
        // The batch is still there, and nobody has to give it again.
        if (error.reason === "engine-unavailable") await this.#waitForEngine(error, signal);
        else this.#refuse(batch, error);
        return true;
      }
      logger.error("Blocks that a peer gave could not be imported", { ...batch.range, error });
      return false;
    }
    this.#isHalted = false;
    this.#window.shift();
    batch.taken();
    this.#penalties.penalize(withholders, "withheld blocks");
    this.#penalties.defer(this.#unproved);
    this.#unproved = [batch];
    this.#isConnected = true;
    this.#lastSlot = blocks.at(-1)?.message.slot ?? this.#lastSlot;
    this.#parts.onProgress();
    return true;
  }

  /** A part at a time: the data of the next one is on its way while one is imported. */
  async #import(blocks: readonly SignedBeaconBlock[], signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const bring = (part: RangePart | undefined): Promise<void> => {
      const brought = part ? this.#data.bring(part, AbortSignal.any([signal, over.signal])) : Promise.resolve();
      // It is awaited later; until then its failure is not one that nobody cares for.
      brought.catch(() => undefined);
      return brought;
    };
    const parts = this.#data.split(blocks);
    let brought = bring(parts[0]);
    try {
      for (const [index, part] of parts.entries()) {
        await brought;
        brought = bring(parts[index + 1]);
        await this.#parts.chain.importSegment(part.blocks, signal);
      }
    } finally {
      over.abort();
    }
  }

  async #waitForEngine({ slot, message: detail }: BlockRejection, signal: AbortSignal): Promise<void> {
    const { chain, logger } = this.#parts;
    if (!this.#isHalted) logger.warn("The sync waits for the execution engine", { slot, detail });
    this.#isHalted = true;
    await chain.engineAnswers.untilWorthAsking(signal);
  }

  #refuse(batch: Batch, rejection: BlockRejection): void {
    const { logger } = this.#parts;
    const { giver, range } = batch;
    const { reason, slot, root, message } = rejection;
    if (reason === "invalid-payload" || reason === "invalid-parent") {
      this.#parts.onRefusedPayload(rejection);
    } else if (NO_FAULT_REJECTIONS.has(reason)) {
      logger.debug("Blocks of a peer do not fit now", { ...range, peer: giver, reason, slot, root, message });
    } else {
      logger.warn("A block of a peer is refused", { slot, root, peer: giver, reason, detail: message });
    }
    if (reason === "data-unavailable" && batch.refusals === 0) {
      logger.warn("No peer gives the data of the next blocks", { slot, root, detail: message });
    }
    if (giver !== null) this.#penalties.onRefused(giver, reason);
    batch.refusals++;
    batch.again();
  }

  /**
   * The batch begins with a block whose parent nobody gave. Either it is of another chain, or the blocks before it were
   * withheld: all of it is asked for again, of other peers where there are any, and the answers will tell. When
   * nothing before it is in doubt, the chains parted earlier.
   */
  #mend(batch: Batch): void {
    const { giver } = batch;
    this.#parts.logger.debug("Blocks do not connect", { ...batch.range, peer: giver, unproved: this.#unproved.length });
    if (this.#canStepBack()) {
      this.#stepBack();
      return;
    }
    if (this.#unproved.length === 0 && giver !== null) {
      // Nothing is before it but what is final, so the fault is its own.
      this.#penalties.penalize([giver], "its blocks do not connect to what is final");
    }
    this.#isDisputed = true;
    batch.refusals++;
    batch.doubt();
    this.#doubtUnproved();
  }

  #doubtUnproved(): void {
    for (const batch of this.#unproved) {
      batch.refusals++;
      batch.doubt();
    }
    this.#window.unshift(...this.#unproved);
    this.#unproved = [];
  }

  /** Before the first batch that is not settled lies only what was ours, or what was taken for settled. */
  #canStepBack(): boolean {
    return (!this.#isConnected || this.#unproved.length === 0) && this.#unsettledSlot() > this.#earliestSlot();
  }

  #unsettledSlot(): Slot {
    return (this.#unproved[0] ?? this.#window[0])?.range.startSlot ?? this.#nextSlot;
  }

  /** Begins earlier, each time twice as far back. */
  #stepBack(): void {
    const { limits, logger } = this.#parts;
    const end = this.#unsettledSlot();
    const start = Math.max(this.#earliestSlot(), end - limits.batchSlots * 2 ** this.#stepsBack++);
    logger.debug("The peers' chain may have left ours before", { from: start, to: end });
    const earlier: Batch[] = [];
    for (let startSlot = start; startSlot < end; startSlot += limits.batchSlots) {
      earlier.push(new Batch({ startSlot, count: Math.min(limits.batchSlots, end - startSlot) }));
    }
    for (const batch of this.#unproved) batch.doubt();
    this.#window.unshift(...earlier, ...this.#unproved);
    this.#unproved = [];
  }

  #isReached(): boolean {
    const { chain, target } = this.#parts;
    return chain.forkChoice.has(target.root) || target.slot < this.#earliestSlot();
  }

  /** All batches are taken, and the target is not among them. False when nobody is left who could give the rest. */
  #seekEnd(): boolean {
    const { target, guide } = this.#parts;
    if (this.#canStepBack()) {
      this.#stepBack();
      return true;
    }
    const last = this.#unproved.at(-1);
    if (!last || this.#isSpent(last)) return false;
    if (this.#unproved.some((batch) => this.#batchPeers.hasFreshClaimant(batch))) {
      this.#doubtUnproved();
      return true;
    }
    // A head may have been left by the chain since it was told; then nearly all of it was given.
    if (target.kind === "head" && this.#lastSlot + REORG_SLOTS >= target.slot) return false;
    const debtors = guide === undefined ? last.emptyHanded().filter((id) => target.claimants.has(id)) : [guide];
    this.#penalties.penalize(debtors, "does not give the blocks that its status tells of");
    return false;
  }
}
