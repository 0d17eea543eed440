import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { SerialQueue } from "../../async/serial-queue.ts";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { blockRoot } from "../blocks/block-encoding.ts";
import type { PayloadVerdicts } from "../engine/payload-verdicts.ts";
import type { ChainEvents } from "../events.ts";
import type { PayloadVerification } from "../fork-choice/payloads/payload-verification.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { ChainSettings } from "../settings.ts";
import type { HotSnapshots } from "../states/hot-snapshots.ts";
import { ValidatedBlock } from "../validation/block.ts";
import { AwaitingData } from "./awaiting-data.ts";
import { BlockCommitter, type BlockCommitterParts } from "./block-committer.ts";
import { BlockImporter, type ImportedBlock } from "./block-importer.ts";
import {
  BlockRejection,
  InvalidPayloadRejection,
  isPermanentRejection,
  isWaitingForEngine,
} from "./block-rejection.ts";
import { checkBeforeTransition } from "./cheap-checks.ts";
import { HeldBlocks } from "./held-blocks.ts";
import { type InvalidBlockRoots, isPermanentlyInvalid } from "./invalid-block-roots.ts";
import { type ArrivedBlock, isKnownBlock } from "./segment.ts";
import { type ImportedSegment, SegmentImporter } from "./segment-importer.ts";
import type { VerifiedBlock } from "./verify-block.ts";
import { knownPayload, payloadVerifier, trustingPayloadVerifier, type VerifyPayload } from "./verify-payload.ts";

interface ImportQueueParts extends BlockCommitterParts {
  bls: BlsVerifier;
  engine: ExecutionEngine;
  settings: Pick<ChainSettings, "safeSlotsToImportOptimistically">;
  payloads: PayloadVerification;
  payloadStore: PayloadStore;
  verdicts: PayloadVerdicts;
  /** Blocks that violate consensus rules. */
  invalidBlocks: InvalidBlockRoots;
  events: ChainEvents;
  logger: Logger;
  hotSnapshots: HotSnapshots;
  /** Post-state of a block recently produced by this node. */
  producedState(root: RootHex): CachedBeaconStateAllForks | undefined;
  /** Queue that serializes all changes to the chain. */
  changes: SerialQueue;
  /** Updates head and finality after blocks were imported. */
  settle(): Promise<void>;
}

export interface Arrival {
  /** Arrival in chain time. Default: now. */
  arrivedAt?: number;
  /** Whether to wait for missing data up to a deadline; defaults to true. The block stays pending in either case. */
  waitsForData?: boolean;
}

/** Returns null if the block is already known. */
type Verify = () => Promise<VerifiedBlock | null>;

/** Imports single blocks, segments and blocks from the database. */
export class ImportQueue {
  readonly #parts: ImportQueueParts;
  readonly #committer: BlockCommitter;
  readonly #importer: BlockImporter;
  readonly #segmentImporter: SegmentImporter;
  /** Blocks are verified before they enter the change queue, which must not wait for the engine. */
  readonly #singles = new SerialQueue();
  readonly #segments = new SerialQueue();
  /** Imports of single blocks in progress, by block root. */
  readonly #importing = new Map<RootHex, Promise<unknown>>();
  readonly #trusting: VerifyPayload;
  readonly #waiting = new HeldBlocks();
  /** Blocks built on a payload of their parent that has not been imported yet (gloas). */
  readonly #awaitingPayload = new HeldBlocks();
  readonly #awaitingData: AwaitingData<VerifiedBlock>;
  readonly #stopListening: () => void;
  #retrying: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(parts: ImportQueueParts) {
    this.#parts = parts;
    this.#committer = new BlockCommitter(parts);
    const verifyPayload = payloadVerifier(parts);
    this.#trusting = trustingPayloadVerifier({ ...parts, payloads: parts.payloadStore });
    this.#importer = new BlockImporter({ ...parts, verifyPayload, committer: this.#committer });
    this.#segmentImporter = new SegmentImporter({ ...parts, verifyPayload, commit: (run) => this.#commit(run) });
    this.#awaitingData = new AwaitingData({ ...parts, commit: (block) => this.#commit([block]) });
    this.#stopListening = parts.events.on("payload", ({ root }) => void this.#retryChildrenOf(root));
  }

  /** True while the block is being verified and stored. False while it waits for data. */
  isImporting(root: RootHex): boolean {
    return this.#importing.has(root) && !this.#awaitingData.has(root);
  }

  /** Resolves once the block is no longer being imported, whether the import succeeds or fails. */
  async untilImportEnds(root: RootHex): Promise<void> {
    if (this.isImporting(root)) await this.#importing.get(root)?.catch(() => undefined);
  }

  /** True if the block is waiting for the execution engine. */
  isWaiting(root: RootHex): boolean {
    return this.#waiting.has(root);
  }

  /** True if the block is verified and waiting for its data. */
  isAwaitingData(root: RootHex): boolean {
    return this.#awaitingData.has(root);
  }

  /** True if the block is waiting for the payload of its parent. */
  isAwaitingPayload(root: RootHex): boolean {
    return this.#awaitingPayload.has(root);
  }

  /** Number of blocks waiting for data. */
  get awaitingData(): number {
    return this.#awaitingData.size;
  }

  /** Drops blocks that are still waiting for data or for a payload even though finality has passed them. */
  dropUnfit(): void {
    this.#awaitingData.dropUnfit(({ signed }) => checkBeforeTransition(signed.message, this.#parts));
    const { forkChoice } = this.#parts;
    this.#awaitingPayload.dropUnfit(({ signed, root }) => {
      if (!forkChoice.has(toRootHex(signed.message.parentRoot))) throw new Error(`The parent of ${root} is final.`);
    });
  }

  /** Drops all blocks waiting for data or for a payload. */
  dropAwaiting(): void {
    this.#awaitingData.dropAll();
    this.#awaitingPayload.clear();
  }

  /** Retries blocks waiting for the execution engine. Never rejects. */
  async retryWaiting(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = null;
    });
    await this.#retrying;
  }

  /** Verifies and imports a block. For a `ValidatedBlock`, skips the checks already done by gossip validation. */
  async importBlock(
    received: SignedBeaconBlock | ValidatedBlock,
    { arrivedAt = this.#parts.clock.nowSeconds(), waitsForData = true }: Arrival = {},
  ): Promise<ImportedBlock> {
    const { config } = this.#parts;
    const validated = received instanceof ValidatedBlock ? received : undefined;
    const { signed, root } =
      received instanceof ValidatedBlock ? received : { signed: received, root: blockRoot(config, received.message) };
    const block = { signed, root, arrivedAt };
    return this.#import(block, () => this.#importer.verify(block, validated), waitsForData);
  }

  /**
   * Imports a block produced and signed by this node. Its signatures and state are known to be valid, and its data is
   * in the pool.
   */
  importOwn(block: ArrivedBlock, postState: CachedBeaconStateAllForks): Promise<ImportedBlock> {
    return this.#import(block, () => this.#importer.verifyOwn(block, postState), false);
  }

  #import(block: ArrivedBlock, verify: Verify, waitsForData: boolean): Promise<ImportedBlock> {
    const { root } = block;
    const importing = this.#importOrHold(block, verify, waitsForData).finally(() => {
      // A second import of the block may have begun.
      if (this.#importing.get(root) === importing) this.#importing.delete(root);
    });
    this.#importing.set(root, importing);
    return importing;
  }

  async #importOrHold(block: ArrivedBlock, verify: Verify, waitsForData: boolean): Promise<ImportedBlock> {
    try {
      const imported = await this.#importArrived(block, verify, waitsForData);
      this.#waiting.delete(block.root);
      this.#awaitingPayload.delete(block.root);
      return imported;
    } catch (error) {
      if (error instanceof BlockRejection) {
        if (isWaitingForEngine(error)) this.#hold(block, error);
        if (error.reason === "unknown-parent-payload") this.#holdForPayload(block);
        if (isPermanentRejection(error)) this.#parts.data.pool.delete(block.root);
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
    // Later blocks do not wait for this block's data, so the count may be a promise.
    const { count } = await this.#singles.run(async () => this.#takeIn(root, verify));
    if (!waitsForData && this.#awaitingData.has(root)) data.requireAvailable(block);
    const known = (await count) === 0;
    if (!known) events.publish("blockImported", { slot, seconds: (SYSTEM_TIMERS.now() - began) / 1000 });
    return { root, known };
  }

  async #takeIn(root: RootHex, verify: Verify): Promise<{ count: number | Promise<number> }> {
    const { data } = this.#parts;
    const pendingCount = this.#awaitingData.answerOf(root);
    if (pendingCount) {
      // If the block is submitted again, that call resolves with zero new blocks once this import succeeds. If the
      // import fails, no caller may be waiting.
      const duplicateCount = pendingCount.then(() => 0);
      duplicateCount.catch(() => undefined);
      return { count: duplicateCount };
    }
    const verified = await this.#withConsequences(verify);
    if (!verified) return { count: 0 };
    if (data.missingForBlock(verified).length === 0) return { count: await this.#commit([verified]) };
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
    if (root === undefined || !(await isPermanentlyInvalid(rejection, signed, this.#parts))) return;
    this.#parts.invalidBlocks.add(root);
  }

  /** Restores a block from the database to fork choice with its known payload status. Publishes no events. */
  restore(signed: SignedBeaconBlock, root: RootHex, execution: ForkChoiceExecution | null): Promise<void> {
    return this.#importer.restore(signed, root, execution ? knownPayload(execution) : this.#trusting);
  }

  /** Resolves when no import is in progress. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The chain is closing; no more blocks are imported."));
    this.#stopListening();
    await this.#awaitingData.close();
    await this.#segments.idle();
    await this.#retrying;
    await this.#singles.idle();
    await this.#awaitingData.close();
  }

  #holdForPayload(block: ArrivedBlock): void {
    this.#awaitingPayload.add(block);
    this.#parts.events.publish("payloadAwaited", { root: toRootHex(block.signed.message.parentRoot) });
  }

  #hold(block: ArrivedBlock, { message }: BlockRejection): void {
    const { root, signed } = block;
    // Later blocks are probably waiting for the same reason.
    const level = this.#waiting.size > 0 ? "debug" : "warn";
    this.#parts.logger[level]("Block waits for the execution engine", { slot: signed.message.slot, root, message });
    this.#waiting.add(block);
  }

  /** Retries waiting blocks. Stops at the first one for which the engine is still unavailable. */
  async #retry(): Promise<void> {
    for (const { signed, root, arrivedAt } of this.#waiting.inOrder()) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.importBlock(signed, { arrivedAt, waitsForData: false });
      } catch (error) {
        this.#parts.logger.debug("Pending block not imported", { slot: signed.message.slot, root, error });
        const isRejection = error instanceof BlockRejection;
        if (isRejection && error.reason === "engine-unavailable") return;
        if (!isRejection || !isWaitingForEngine(error)) this.#waiting.delete(root);
      }
    }
  }

  /** Imports the blocks that were waiting for the payload of the block. */
  async #retryChildrenOf(root: RootHex): Promise<void> {
    for (const child of this.#awaitingPayload.childrenOf(root)) {
      if (this.#closing.signal.aborted) return;
      this.#awaitingPayload.delete(child.root);
      try {
        await this.importBlock(child.signed, { arrivedAt: child.arrivedAt });
      } catch (error) {
        const { slot } = child.signed.message;
        this.#parts.logger.debug("Block built on a late payload not imported", { slot, root: child.root, error });
      }
    }
  }

  /** Handles the effects of a failed import on other blocks, then rethrows the error. */
  async #withConsequences<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      await this.#parts.changes.run(() => this.#drawConsequences(error));
      throw error;
    }
  }

  /** Applies an error to the chain: an invalid payload can invalidate ancestors. */
  async #drawConsequences(error: unknown): Promise<void> {
    const { forkChoice, verdicts, settle, logger } = this.#parts;
    if (!(error instanceof InvalidPayloadRejection) || error.root === undefined) return;
    const { slot, root, message } = error;
    const level = forkChoice.isInvalid(error.root) ? "debug" : "warn";
    logger[level]("Execution engine rejected a block", { slot, root, message });
    if (await verdicts.applyRejection(error.root, error)) await settle();
  }

  /** Commits verified blocks. Skips blocks that were imported by other means in the meantime. */
  #commit(run: readonly VerifiedBlock[]): Promise<number> {
    const { changes, forkChoice, settle, hotSnapshots } = this.#parts;
    return changes.run(async () => {
      const unknown: VerifiedBlock[] = [];
      for (const block of run) if (!(await isKnownBlock(block, this.#parts))) unknown.push(block);
      if (unknown.length === 0) return 0;
      // Readers see the new block and the new head at the same time.
      await forkChoice.revision.transaction(async () => {
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
   * Waits for the block's slot. Gossip accepts blocks slightly before their slot (clock disparity), but fork choice
   * does not. Waits outside the change queue.
   */
  async #untilCurrent(slot: Slot): Promise<void> {
    const { clock, config, forkChoice } = this.#parts;
    const isEarly =
      slot > clock.currentSlot && slot <= clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY);
    if (!isEarly) return;
    try {
      await clock.untilSlot(slot);
    } catch (cause) {
      throw new BlockRejection("node-stopping", `The node stopped before the block's slot ${slot} started.`, cause);
    }
    forkChoice.onTick(slot);
  }
}
