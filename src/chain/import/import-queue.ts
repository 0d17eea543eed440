import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { blockRoot } from "../blocks/block-encoding.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import type { PayloadVerdicts } from "../payload-verdicts.ts";
import type { PayloadVerification } from "../payload-verification.ts";
import { SerialQueue } from "../serial-queue.ts";
import type { HotSnapshots } from "../states/hot-snapshots.ts";
import { type BadBlocks, isInvalidForCertain } from "./bad-blocks.ts";
import { BlockCommitter, type BlockCommitterParts } from "./block-committer.ts";
import { BlockImporter, type ImportedBlock } from "./block-importer.ts";
import { BlockRejection, condemnsBlock, isWaitingForEngine, PayloadRefusal } from "./block-rejection.ts";
import { BlocksAwaitingData } from "./blocks-awaiting-data.ts";
import { checkBeforeTransition } from "./cheap-checks.ts";
import { type ArrivedBlock, isKnownBlock } from "./segment.ts";
import { type ImportedSegment, SegmentImporter } from "./segment-importer.ts";
import type { VerifiedBlock } from "./verify-block.ts";
import { knownPayload, payloadVerifier, trustingPayloadVerifier, type VerifyPayload } from "./verify-payload.ts";
import { WaitingBlocks } from "./waiting-blocks.ts";

interface ImportQueueParts extends BlockCommitterParts {
  bls: BlsVerifier;
  engine: ExecutionEngine;
  safeSlotsToImportOptimistically?: number;
  payloads: PayloadVerification;
  verdicts: PayloadVerdicts;
  /** Those that break a rule of consensus. */
  invalidBlocks: BadBlocks;
  events: ChainEvents;
  logger: Logger;
  hotSnapshots: HotSnapshots;
  /** The state after a block of that root, if this node has produced it lately. */
  producedState(root: RootHex): CachedBeaconStateAllForks | undefined;
  /** Everything that changes the chain. */
  changes: SerialQueue;
  /** Draws the consequences of new blocks: head, finality. */
  settle(): Promise<void>;
}

export interface Arrival {
  /** When the block came, in chain time; now, unless it was held up on its way here. */
  arrivedAt?: number;
  /** Whether the caller waits a while where the block lacks data, which is held in any case; by default it does. */
  waitsForData?: boolean;
}

/** Null when the chain has the block already. */
type Verify = () => Promise<VerifiedBlock | null>;

/** The ways onto the chain: for one block, for a run of them, and for those that the database holds. */
export class ImportQueue {
  readonly #parts: ImportQueueParts;
  readonly #committer: BlockCommitter;
  readonly #importer: BlockImporter;
  readonly #segmentImporter: SegmentImporter;
  /** A block is verified before its turn among the changes, which do not wait for the execution engine. */
  readonly #singles = new SerialQueue();
  readonly #segments = new SerialQueue();
  readonly #trusting: VerifyPayload;
  readonly #waiting = new WaitingBlocks();
  readonly #awaitingData: BlocksAwaitingData;
  #retrying: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(parts: ImportQueueParts) {
    this.#parts = parts;
    this.#committer = new BlockCommitter(parts);
    const verifyPayload = payloadVerifier(parts);
    this.#trusting = trustingPayloadVerifier(parts);
    this.#importer = new BlockImporter({ ...parts, verifyPayload, committer: this.#committer });
    this.#segmentImporter = new SegmentImporter({ ...parts, verifyPayload, commit: (run) => this.#commit(run) });
    this.#awaitingData = new BlocksAwaitingData({ ...parts, commit: (block) => this.#commit([block]) });
  }

  /** Whether the block waits for the execution engine. */
  isWaiting(root: RootHex): boolean {
    return this.#waiting.has(root);
  }

  /** Whether the block is verified and waits for its data. */
  isAwaitingData(root: RootHex): boolean {
    return this.#awaitingData.has(root);
  }

  /** How many blocks wait for their data. */
  get awaitingData(): number {
    return this.#awaitingData.size;
  }

  /** Lets go of the blocks that wait for data and that finality has passed. */
  dropUnfit(): void {
    this.#awaitingData.dropUnfit(({ signed }) => checkBeforeTransition(signed.message, this.#parts));
  }

  /** Lets go of all blocks that wait for data. */
  dropAwaiting(): void {
    this.#awaitingData.dropAll();
  }

  /** Tries again to import what waits for the execution engine. Never rejects. */
  async retryWaiting(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = null;
    });
    await this.#retrying;
  }

  async importBlock(
    signed: SignedBeaconBlock,
    { arrivedAt = this.#parts.clock.nowSeconds(), waitsForData = true }: Arrival = {},
  ): Promise<ImportedBlock> {
    const block = { signed, root: blockRoot(this.#parts.config, signed.message), arrivedAt };
    return this.#importOrHold(block, () => this.#importer.verify(block), waitsForData);
  }

  /**
   * For a block that this node has produced and signed itself: its signatures and its state are known to be right, and its data is
   * in the pool.
   */
  importOwn(block: ArrivedBlock, postState: CachedBeaconStateAllForks): Promise<ImportedBlock> {
    return this.#importOrHold(block, () => this.#importer.verifyOwn(block, postState), false);
  }

  async #importOrHold(block: ArrivedBlock, verify: Verify, waitsForData: boolean): Promise<ImportedBlock> {
    try {
      const imported = await this.#importArrived(block, verify, waitsForData);
      this.#waiting.delete(block.root);
      return imported;
    } catch (error) {
      if (error instanceof BlockRejection) {
        if (isWaitingForEngine(error)) this.#hold(block, error);
        if (condemnsBlock(error)) this.#parts.data.pool.delete(block.root);
        await this.#noteIfInvalid(error, block.signed);
      }
      throw error;
    }
  }

  async #importArrived(block: ArrivedBlock, verify: Verify, waitsForData: boolean): Promise<ImportedBlock> {
    const { events, data } = this.#parts;
    const { signed, root } = block;
    const { slot } = signed.message;
    await this.#untilCurrent(slot);
    const began = SYSTEM_TIMERS.now();
    await this.#importer.prepare(signed, root);
    // What comes behind the block does not wait for its data: the number is a promise then.
    const { count } = await this.#singles.run(async () => this.#takeIn(root, verify));
    if (!waitsForData && this.#awaitingData.has(root)) data.requireAvailable(block);
    const known = (await count) === 0;
    if (!known) events.publish("blockImported", { slot, seconds: (SYSTEM_TIMERS.now() - began) / 1000 });
    return { root, known };
  }

  async #takeIn(root: RootHex, verify: Verify): Promise<{ count: number | Promise<number> }> {
    const { data } = this.#parts;
    const awaited = this.#awaitingData.answerOf(root);
    if (awaited) {
      // For whoever brings it again, the block is known once it is imported; if it is not, nobody need wait for that.
      const known = awaited.then(() => 0);
      known.catch(() => undefined);
      return { count: known };
    }
    const verified = await this.#withConsequences(verify);
    if (!verified) return { count: 0 };
    if (data.missing(verified).length === 0) return { count: await this.#commit([verified]) };
    return { count: this.#awaitingData.hold(verified) };
  }

  async importSegment(blocks: readonly SignedBeaconBlock[], signal?: AbortSignal): Promise<ImportedSegment> {
    const arrivedAt = this.#parts.clock.nowSeconds();
    const last = blocks.at(-1);
    if (!last) return { imported: 0, known: 0 };
    await this.#untilCurrent(last.message.slot);
    const ending = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    return this.#segments.run(async () => {
      ending.throwIfAborted();
      try {
        return await this.#withConsequences(() => this.#segmentImporter.import(blocks, { arrivedAt, signal: ending }));
      } catch (error) {
        const refused = error instanceof BlockRejection && blocks.find(({ message }) => message.slot === error.slot);
        if (refused) await this.#noteIfInvalid(error, refused);
        throw error;
      }
    });
  }

  async #noteIfInvalid(rejection: BlockRejection, signed: SignedBeaconBlock): Promise<void> {
    const { root } = rejection;
    if (root === undefined || !(await isInvalidForCertain(rejection, signed, this.#parts))) return;
    this.#parts.invalidBlocks.add(root);
  }

  /** Takes a block of our own database back into fork choice, with what was known of its payload; nobody is told. */
  restore(signed: SignedBeaconBlock, root: RootHex, execution: ForkChoiceExecution | null): Promise<void> {
    return this.#importer.restore(signed, root, execution ? knownPayload(execution) : this.#trusting);
  }

  /** Resolves when no block is under way any more. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The chain is being closed, so no more blocks are imported."));
    await this.#awaitingData.close();
    await this.#segments.idle();
    await this.#retrying;
    await this.#singles.idle();
    await this.#awaitingData.close();
  }

  #hold(block: ArrivedBlock, { message }: BlockRejection): void {
    const { root, signed } = block;
    // Those that follow are likely to wait for the same reason.
    const level = this.#waiting.size > 0 ? "debug" : "warn";
    this.#parts.logger[level]("A block waits for the execution engine", { slot: signed.message.slot, root, message });
    this.#waiting.add(block);
  }

  /** Ends with the first block that the engine still cannot be asked about. */
  async #retry(): Promise<void> {
    for (const { signed, root, arrivedAt } of this.#waiting.inOrder()) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.importBlock(signed, { arrivedAt, waitsForData: false });
      } catch (error) {
        this.#parts.logger.debug("A block that waited is not imported", { slot: signed.message.slot, root, error });
        const isRejection = error instanceof BlockRejection;
        if (isRejection && error.reason === "engine-unavailable") return;
        if (!isRejection || !isWaitingForEngine(error)) this.#waiting.delete(root);
      }
    }
  }

  /** Throws what the import throws, once its consequences are drawn. */
  async #withConsequences<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      await this.#parts.changes.run(() => this.#drawConsequences(error));
      throw error;
    }
  }

  /** A payload that is refused may condemn the blocks before it. */
  async #drawConsequences(error: unknown): Promise<void> {
    const { forkChoice, verdicts, settle, logger } = this.#parts;
    if (!(error instanceof PayloadRefusal) || error.root === undefined) return;
    const { slot, root, message } = error;
    const level = forkChoice.isInvalid(error.root) ? "debug" : "warn";
    logger[level]("The execution engine refuses a block, which is not imported", { slot, root, message });
    if (await verdicts.applyRefusal(error.root, error)) await settle();
  }

  /** Takes in a run of blocks that was verified while the chain went on; some of them may have come another way. */
  #commit(run: readonly VerifiedBlock[]): Promise<number> {
    const { changes, forkChoice, settle, hotSnapshots } = this.#parts;
    return changes.run(async () => {
      const unknown: VerifiedBlock[] = [];
      for (const block of run) if (!(await isKnownBlock(block, this.#parts))) unknown.push(block);
      if (unknown.length === 0) return 0;
      // That a block is there, and that it is the head, is one change to those who ask.
      await forkChoice.revision.asOne(async () => {
        await this.#committer.commit(unknown);
        for (const { signed, root } of unknown) this.#announce(signed, root);
        await settle();
      });
      for (const { root } of unknown) await hotSnapshots.offer(root);
      return unknown.length;
    });
  }

  #announce({ message: { slot, proposerIndex } }: SignedBeaconBlock, root: RootHex): void {
    const { events, payloads, logger } = this.#parts;
    logger.debug("Block imported", { slot, root, proposer: proposerIndex });
    events.publish("block", { slot, root, executionOptimistic: payloads.isOptimistic({ slot, root }) });
  }

  /**
   * A sender's clock may be a little ahead, so gossip lets a block pass before its slot; fork choice takes it only when the
   * slot has begun. The wait stays outside the queue of changes, which must not stand still meanwhile.
   */
  async #untilCurrent(slot: Slot): Promise<void> {
    const { clock, config, forkChoice } = this.#parts;
    const isEarly =
      slot > clock.currentSlot && slot <= clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY);
    if (!isEarly) return;
    try {
      await clock.untilSlot(slot);
    } catch (cause) {
      throw new BlockRejection("node-stopping", `The node stopped before slot ${slot} of the block began.`, cause);
    }
    forkChoice.onTick(slot);
  }
}
