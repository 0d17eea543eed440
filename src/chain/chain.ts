import type { BeaconConfig } from "@lodestar/config";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { BLSSignature, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Builder } from "../execution/builder/builder.ts";
import { type ExecutionEngine, isReachable, type PayloadVerdict } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import { checkpointsOf } from "./anchor.ts";
import { blamedOnDatabase } from "./bad-pubkey.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import type { Clock } from "./clock/clock.ts";
import type { DataAvailability } from "./data/data-availability.ts";
import type { SidecarProcessor } from "./data/sidecar-processor.ts";
import type { EngineAnswers } from "./engine-answers.ts";
import type { Eth1Proposals } from "./eth1/eth1-proposals.ts";
import type { ChainEvents } from "./events.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { type Checkpoint, type ForkChoiceBlock, sameCheckpoint } from "./fork-choice/types.ts";
import type { Graffiti } from "./graffiti.ts";
import type { History } from "./history/history.ts";
import type { ImportedBlock } from "./import/block-importer.ts";
import type { Arrival } from "./import/import-queue.ts";
import type { Alongside } from "./import/segment.ts";
import type { ImportedSegment } from "./import/segment-importer.ts";
import type { LightClientServer } from "./light-client/light-client-server.ts";
import type { Moments } from "./moments.ts";
import { type OpenedParts, openParts } from "./opening.ts";
import type { OperationProcessor } from "./operation-processor.ts";
import type { PayloadVerdicts } from "./payload-verdicts.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import type { Pools } from "./pools/pools.ts";
import type { BlockProducer, ProducedFullBlock } from "./production/block-producer.ts";
import type { ProposerHead } from "./production/proposer-head.ts";
import type { ProposerPreparations } from "./production/proposer-preparations.ts";
import type { Pubkeys } from "./pubkeys.ts";
import { restoreChain } from "./restoring/restore-chain.ts";
import type { StateStore } from "./states/state-store.ts";
import type { AttachedValidators } from "./subscriptions/attached-validators.ts";
import type { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import type { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";
import type { SyncStatus } from "./sync-status.ts";
import type { ValidationContext } from "./validation/context.ts";
import { type ChainParts, type WiredParts, wireParts } from "./wiring.ts";

/**
 * The beacon chain of one node: everything consensus, wired together. Whatever changes it runs through one queue;
 * reading never waits for that queue.
 */
export class BeaconChain {
  readonly config: BeaconConfig;
  readonly clock: Clock;
  readonly forkChoice: ForkChoice;
  readonly payloads: PayloadVerification;
  readonly blocks: BlockStore;
  readonly history: History;
  readonly states: StateStore;
  readonly pools: Pools;
  readonly data: DataAvailability;
  readonly events: ChainEvents;
  readonly processor: OperationProcessor;
  readonly sidecars: SidecarProcessor;
  readonly producer: BlockProducer;
  readonly proposerHead: ProposerHead;
  /** Undefined when the node has none. */
  readonly builder: Builder | undefined;
  readonly eth1: Eth1Proposals;
  readonly graffiti: Graffiti;
  readonly lightClient: LightClientServer;
  readonly subscriptions: CommitteeSubscriptions;
  readonly syncSubscriptions: SyncSubscriptions;
  readonly attached: AttachedValidators;
  readonly preparations: ProposerPreparations;
  readonly status: SyncStatus;
  readonly engineAnswers: EngineAnswers;
  /** What the gossip rules look at; block submissions and, later, the network validate with it. */
  readonly validation: ValidationContext;
  readonly genesis: { time: number; validatorsRoot: Uint8Array };

  readonly #db: BeaconDb;
  readonly #pubkeys: Pubkeys;
  readonly #engine: ExecutionEngine;
  /** All parts, also those that nobody else has to know of. */
  readonly #wired: WiredParts;
  readonly #logger: Logger;
  /** What fork choice begins with, and what is known to be justified and final by then. */
  readonly #beginning: { anchor: Checkpoint; justified: Checkpoint; finalized: Checkpoint };
  readonly moments: Moments;
  #stopTicking: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  /** Opens the chain that the database holds, at the head and finality where it was left. */
  static async open(parts: ChainParts): Promise<BeaconChain> {
    const chain = new BeaconChain(parts, await openParts(parts));
    try {
      await chain.#restore(parts.signal);
    } catch (error) {
      await chain.#wired.engineNotifier.close();
      await chain.#wired.bls.close();
      await chain.data.kzg.close();
      await chain.#pubkeys.close();
      throw blamedOnDatabase(error, parts.db);
    }
    return chain;
  }

  private constructor(parts: ChainParts, opened: OpenedParts) {
    const { config, clock, db, engine, logger, builder } = parts;
    const { forkChoice, payloads, anchorState, pubkeyCache } = opened;
    this.config = config;
    this.clock = clock;
    this.forkChoice = forkChoice;
    this.payloads = payloads;
    this.genesis = { time: anchorState.genesisTime, validatorsRoot: anchorState.genesisValidatorsRoot };
    this.builder = builder?.builder;
    this.#db = db;
    this.#engine = engine;
    this.#logger = logger.topic("chain");
    this.#pubkeys = pubkeyCache;
    this.#beginning = { anchor: forkChoice.finalized, ...checkpointsOf(anchorState, forkChoice.finalized) };
    const wired = wireParts(parts, opened, {
      settle: () => this.#settle(),
      refreshHead: () => this.refreshHead(),
      applyVerdict: (verdicts, block, verdict) => this.#applyVerdict(verdicts, block, verdict),
      takeBack: (verdicts, block) => this.#takeBack(verdicts, block),
    });
    this.#wired = wired;
    this.events = wired.events;
    this.blocks = wired.blocks;
    this.states = wired.states;
    this.data = wired.data;
    this.pools = wired.pools;
    this.graffiti = wired.graffiti;
    this.history = wired.history;
    this.status = wired.status;
    this.engineAnswers = wired.engineAnswers;
    this.validation = wired.validation;
    this.processor = wired.processor;
    this.sidecars = wired.sidecars;
    this.lightClient = wired.lightClient;
    this.eth1 = wired.eth1;
    this.producer = wired.producer;
    this.proposerHead = wired.proposerHead;
    this.moments = wired.moments;
    this.subscriptions = wired.subscriptions;
    this.syncSubscriptions = wired.syncSubscriptions;
    this.attached = wired.attached;
    this.preparations = wired.preparations;
  }

  /** The block that fork choice prefers. */
  get head(): ForkChoiceBlock {
    return this.#wired.tracker.head;
  }

  /** The post-state of the head block, not advanced to the current slot. */
  get headState(): CachedBeaconStateAllForks {
    return this.#wired.tracker.headState;
  }

  /**
   * The newest checkpoint that is known to be final, as others are told. That of fork choice is the same, unless the chain was
   * started from a state off the boundary of an epoch: then it stands for what is trusted, and exists on no chain.
   */
  get finalizedCheckpoint(): Checkpoint {
    const { finalized } = this.forkChoice;
    return sameCheckpoint(finalized, this.#beginning.anchor) ? this.#beginning.finalized : finalized;
  }

  /** The same for the justified checkpoint. */
  get justifiedCheckpoint(): Checkpoint {
    const { justified } = this.forkChoice;
    return sameCheckpoint(justified, this.#beginning.anchor) ? this.#beginning.justified : justified;
  }

  /** Resolves with the reason when the chain turns out to be one that cannot be gone on with. */
  get failed(): Promise<unknown> {
    return this.#pubkeys.failed.then((error) => blamedOnDatabase(error, this.#db));
  }

  /** Follows the clock from now on. */
  start(): void {
    this.#stopTicking ??= this.#tick();
    // Slots that began since the chain was opened were announced to nobody.
    this.forkChoice.onTick(this.clock.currentSlot);
    this.#wired.engineNotifier.notify();
    this.#wired.dataUpkeep.start();
  }

  /**
   * Verifies a block wholly and takes it onto the chain. Resolves when the block is in the database and fork choice
   * has had its say; throws a `BlockRejection` when the block is not valid.
   */
  importBlock(signed: SignedBeaconBlock, arrival?: Arrival): Promise<ImportedBlock> {
    return this.#wired.importQueue.importBlock(signed, arrival);
  }

  /**
   * Takes a block onto the chain that this node has produced and that one of its own validators has signed. What it made itself
   * is not verified again.
   *
   * @param alongside adds what is to be stored in the same write as the block
   */
  async importOwnBlock(
    produced: ProducedFullBlock,
    signature: BLSSignature,
    alongside: Alongside,
  ): Promise<ImportedBlock> {
    const { block: message, root, postState, blobsBundle } = produced;
    const { slot, proposerIndex } = message;
    const signed = { message, signature };
    const arrivedAt = this.clock.nowSeconds();
    this.pools.seen.blockProposers.add(slot, proposerIndex, root);
    this.events.publish("blockGossip", { slot, root, signed });
    if (blobsBundle) this.sidecars.published(await this.data.sidecarsOf(signed, blobsBundle));
    return this.#wired.importQueue.importOwn({ signed, root, arrivedAt, alongside }, postState);
  }

  /**
   * Imports blocks in ascending order, each the child of the one before and the first the child of a block we have; much
   * faster than one by one. Throws a `BlockRejection` that names the first block which is not valid. The blocks before
   * it stay imported, and so do those that were taken in before the signal aborted the rest.
   */
  importSegment(blocks: readonly SignedBeaconBlock[], signal?: AbortSignal): Promise<ImportedSegment> {
    return this.#wired.importQueue.importSegment(blocks, signal);
  }

  /** Whether the block is in order and waits for the execution engine. */
  isWaitingForEngine(root: RootHex): boolean {
    return this.#wired.importQueue.isWaiting(root);
  }

  /** Whether the block is in order and waits for its blobs or columns. */
  isWaitingForData(root: RootHex): boolean {
    return this.#wired.importQueue.isAwaitingData(root);
  }

  /** How many blocks do. */
  get blocksWaitingForData(): number {
    return this.#wired.importQueue.awaitingData;
  }

  /** Lets fork choice decide anew, with all attestations counted up to now. */
  refreshHead(): Promise<void> {
    return this.#wired.changes.run(() => this.#settle());
  }

  /** Stores what lives in memory only, so that all of the chain is in the database. */
  store(): Promise<void> {
    return this.#wired.changes.run(() => this.#store());
  }

  /** Ends what is under way and stores what lives in memory only. The database stays open; its owner closes it. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopTicking?.();
    this.#wired.dataUpkeep.stopMaking();
    await this.#wired.engineNotifier.close();
    await this.#wired.importQueue.close();
    await this.#wired.dataUpkeep.close();
    try {
      await this.store();
    } finally {
      await this.#wired.archiver.idle();
      await this.#wired.bls.close();
      await this.data.kzg.close();
      await this.#pubkeys.close();
    }
  }

  async #store(): Promise<void> {
    await this.#wired.snapshotWriter.finish();
    await this.pools.save(this.#db, this.config);
  }

  async #restore(signal: AbortSignal | undefined): Promise<void> {
    const { config, clock, forkChoice, states, pools } = this;
    const importQueue = this.#wired.importQueue;
    const logger = this.#logger;
    const restored = await restoreChain({
      config,
      db: this.#db,
      clock,
      forkChoice,
      states,
      pools,
      importQueue,
      logger,
      signal,
    });
    await this.history.data.open();
    await this.#settle();
    logger.info("Chain opened", {
      head: this.head.slot,
      justified: forkChoice.justified.epoch,
      finalized: forkChoice.finalized.epoch,
      restored,
    });
  }

  #tick(): () => void {
    const ends = [
      this.status.follow(),
      this.clock.onSlot((slot) => this.#onSlot(slot)),
      this.#engine.onStateChange((state) => {
        if (!isReachable(state)) return;
        void this.#wired.importQueue.retryWaiting();
        this.#wired.payloadAnnouncer.resume();
      }),
      ...[
        this.#wired.payloadAnnouncer,
        this.#wired.epochPreparer,
        this.#wired.validatorCustody,
        ...(this.#wired.builderInUse?.followers ?? []),
      ].map((follower) => follower.start()),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  async #onSlot(slot: Slot): Promise<void> {
    this.forkChoice.onClockSetBack(slot);
    this.forkChoice.onTick(slot);
    this.pools.pruneBySlot(slot);
    this.subscriptions.prune(slot);
    this.syncSubscriptions.prune(computeEpochAtSlot(slot));
    this.#wired.dataUpkeep.onSlot(slot);
    void this.#wired.importQueue.retryWaiting();
    await this.refreshHead();
    this.#wired.engineNotifier.onSlot();
  }

  async #applyVerdict(verdicts: PayloadVerdicts, block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void> {
    const known = this.forkChoice.get(block.root)?.execution.status;
    // Nearly all answers confirm what is known, for which nobody has to wait in the queue.
    if (verdict.status === "optimistic" || verdict.status === known) return;
    await this.#wired.changes.run(async () => {
      if (await verdicts.apply(block, verdict)) await this.#settle();
    });
  }

  async #takeBack(verdicts: PayloadVerdicts, block: ForkChoiceBlock): Promise<void> {
    await this.#wired.changes.run(async () => {
      if (await verdicts.takeBack(block)) await this.#settle();
    });
  }

  async #settle(): Promise<void> {
    await this.#wired.tracker.refresh();
    await this.lightClient.follow(this.head);
    if (!this.#wired.archiver.isBehind) return;
    const { checkpoint, state } = await this.#wired.archiver.archive();
    this.pools.pruneByFinality(state);
    this.#wired.importQueue.dropUnfit();
    this.data.pool.prune(computeStartSlotAtEpoch(checkpoint.epoch) + 1);
    this.#logger.info("Finalized", { epoch: checkpoint.epoch, root: checkpoint.root, head: this.head.slot });
    this.events.publish("finalized", {
      ...checkpoint,
      stateRoot: toRootHex(state.hashTreeRoot()),
      executionOptimistic: this.payloads.isOptimistic(
        { root: checkpoint.root, slot: state.slot },
        { isFinalized: true },
      ),
    });
  }
}
