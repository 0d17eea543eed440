import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { BLSSignature, RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { type BlsVerifier, createBlsVerifier } from "../bls/verifier.ts";
import type { Kzg } from "../data/kzg.ts";
import { KzgThread } from "../data/kzg-thread.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Builder } from "../execution/builder/builder.ts";
import { type ExecutionEngine, isReachable, type PayloadVerdict } from "../execution/engine.ts";
import type { KeyTable } from "../key-table.ts";
import type { Logger } from "../log/logger.ts";
import { checkpointsOf } from "./anchor.ts";
import { blamedOnDatabase } from "./bad-pubkey.ts";
import { BlockStore } from "./blocks/block-store.ts";
import type { Clock } from "./clock/clock.ts";
import { Custody, type CustodyOptions } from "./data/custody.ts";
import { DataAvailability } from "./data/data-availability.ts";
import { DataUpkeep } from "./data/data-upkeep.ts";
import { SidecarProcessor } from "./data/sidecar-processor.ts";
import { ValidatorCustody } from "./data/validator-custody.ts";
import { DistantGenesis, type ReadGenesisState } from "./distant-genesis.ts";
import { EngineAnswers } from "./engine-answers.ts";
import { EngineNotifier } from "./engine-notifier.ts";
import { EpochPreparer } from "./epoch-preparer.ts";
import { Eth1Proposals } from "./eth1/eth1-proposals.ts";
import { ChainEvents } from "./events.ts";
import { FinalityArchiver } from "./finality-archiver.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import { type Checkpoint, type ForkChoiceBlock, sameCheckpoint } from "./fork-choice/types.ts";
import { Graffiti } from "./graffiti.ts";
import { HeadTracker } from "./head-tracker.ts";
import { History } from "./history/history.ts";
import type { ImportedBlock } from "./import/block-importer.ts";
import { type Arrival, ImportQueue } from "./import/import-queue.ts";
import type { Alongside } from "./import/segment.ts";
import type { ImportedSegment } from "./import/segment-importer.ts";
import { LightClientServer } from "./light-client/light-client-server.ts";
import { Moments } from "./moments.ts";
import { type OpenedParts, type OpeningOptions, openParts } from "./opening.ts";
import { OperationProcessor } from "./operation-processor.ts";
import { PayloadVerdicts } from "./payload-verdicts.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import { Pools } from "./pools/pools.ts";
import { BlockProducer, type ProducedFullBlock } from "./production/block-producer.ts";
import { type BuilderInUse, type BuilderUse, useBuilder } from "./production/builder-use.ts";
import { PayloadAnnouncer } from "./production/payload-announcer.ts";
import { PayloadBuilder } from "./production/payload-builder.ts";
import { ProposerPreparations } from "./production/proposer-preparations.ts";
import type { Pubkeys } from "./pubkeys.ts";
import { restoreChain } from "./restoring/restore-chain.ts";
import { SerialQueue } from "./serial-queue.ts";
import { HotSnapshots } from "./states/hot-snapshots.ts";
import { SnapshotWriter } from "./states/snapshot-writer.ts";
import { StateStore, type StateStoreLimits, stateLimitsFor } from "./states/state-store.ts";
import { AttachedValidators } from "./subscriptions/attached-validators.ts";
import { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";
import { SyncStatus } from "./sync-status.ts";
import { validationContextOf } from "./validation/chain-context.ts";
import type { ValidationContext } from "./validation/context.ts";

export interface ChainParts extends OpeningOptions {
  clock: Clock;
  engine: ExecutionEngine;
  /** For a chain that was started from a later state; left out where the genesis state is not at hand. */
  readGenesisState?: ReadGenesisState;
  graffiti?: Uint8Array;
  /** Whether the graffiti names the clients where there is room; by default it does. */
  graffitiCodes?: boolean;
  syncHorizonSlots?: number;
  stateLimits?: StateStoreLimits;
  /** By default as many as the specification has (sync/optimistic.md). */
  safeSlotsToImportOptimistically?: number;
  /** Left out by a node that builds all its payloads itself. */
  builder?: BuilderUse;
  custody?: CustodyOptions;
  /** By default a thread of the chain's own. It is closed with the chain. */
  kzg?: Kzg;
  /** By default `createBlsVerifier`. What it makes is closed with the chain. */
  createVerifier?: typeof createBlsVerifier;
}

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
  /** Undefined when the node has none. */
  readonly builder: Builder | undefined;
  readonly eth1: Eth1Proposals;
  readonly graffiti: Graffiti;
  readonly lightClient: LightClientServer;
  readonly subscriptions = new CommitteeSubscriptions();
  readonly syncSubscriptions = new SyncSubscriptions();
  readonly attached = new AttachedValidators();
  readonly preparations = new ProposerPreparations(this.attached);
  readonly status: SyncStatus;
  readonly engineAnswers: EngineAnswers;
  /** What the gossip rules look at; block submissions and, later, the network validate with it. */
  readonly validation: ValidationContext;
  readonly genesis: { time: number; validatorsRoot: Uint8Array };

  readonly #db: BeaconDb;
  readonly #pubkeys: Pubkeys;
  readonly #bls: BlsVerifier;
  readonly #importQueue: ImportQueue;
  readonly #tracker: HeadTracker;
  readonly #archiver: FinalityArchiver;
  readonly #snapshotWriter: SnapshotWriter;
  readonly #dataUpkeep: DataUpkeep;
  readonly #payloadAnnouncer: PayloadAnnouncer;
  readonly #epochPreparer: EpochPreparer;
  readonly #validatorCustody: ValidatorCustody;
  readonly #builderInUse: BuilderInUse | undefined;
  readonly #engineNotifier: EngineNotifier;
  readonly #engine: ExecutionEngine;
  readonly #logger: Logger;
  /** What fork choice begins with, and what is known to be justified and final by then. */
  readonly #beginning: { anchor: Checkpoint; justified: Checkpoint; finalized: Checkpoint };
  readonly #changes = new SerialQueue();
  readonly moments: Moments;
  #stopTicking: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  /** Opens the chain that the database holds, at the head and finality where it was left. */
  static async open(parts: ChainParts): Promise<BeaconChain> {
    const chain = new BeaconChain(parts, await openParts(parts));
    try {
      await chain.#restore(parts.signal);
    } catch (error) {
      await chain.#engineNotifier.close();
      await chain.#bls.close();
      await chain.data.kzg.close();
      await chain.#pubkeys.close();
      throw blamedOnDatabase(error, parts.db);
    }
    return chain;
  }

  private constructor(
    { config, db, clock, engine, logger, ...options }: ChainParts,
    { pubkeyCache, forkChoice, snapshots, payloads, anchorState, deposits, historyEnd }: OpenedParts,
  ) {
    const log = logger.topic("chain");
    this.config = config;
    this.clock = clock;
    this.forkChoice = forkChoice;
    this.payloads = payloads;
    this.genesis = { time: anchorState.genesisTime, validatorsRoot: anchorState.genesisValidatorsRoot };
    this.events = new ChainEvents(log);
    const { readGenesisState: read, stateLimits: limits = stateLimitsFor(anchorState.validators.length) } = options;
    const isDistant = snapshots.oldest.slot > GENESIS_SLOT;
    const genesis = isDistant && read ? new DistantGenesis({ config, pubkeyCache, read }) : undefined;
    this.blocks = new BlockStore({ config, db, forkChoice, payloads, genesis });
    this.states = new StateStore({ db, blocks: this.blocks, forkChoice, snapshots, genesis, limits });
    this.states.holdAdvanced(forkChoice.finalized.root, anchorState);
    this.#beginning = { anchor: forkChoice.finalized, ...checkpointsOf(anchorState, forkChoice.finalized) };
    const custody = new Custody(config, options.custody);
    const kzg = options.kzg ?? new KzgThread(log);
    this.data = new DataAvailability({ config, db, clock, kzg, custody });
    this.pools = new Pools();
    this.graffiti = new Graffiti({ chosen: options.graffiti, codes: options.graffitiCodes, engine });
    this.#db = db;
    this.#engine = engine;
    this.#logger = log;
    this.#pubkeys = pubkeyCache;
    const { createVerifier = createBlsVerifier } = options;
    this.#bls = createVerifier({ pubkeyCache, logger: log });
    const { blocks, data } = this;
    const { revision } = forkChoice;
    this.history = new History({ config, db, clock, blocks, data, bls: this.#bls, revision, genesis }, historyEnd);
    this.#tracker = new HeadTracker(
      { forkChoice, states: this.states, payloads, events: this.events, logger: log },
      forkChoice.head,
      anchorState,
    );
    const snapshotWriter = new SnapshotWriter({ snapshots, changes: this.#changes, logger: log });
    this.#snapshotWriter = snapshotWriter;
    this.#archiver = new FinalityArchiver(
      { db, forkChoice, states: this.states, snapshots, snapshotWriter, payloads, logger: log },
      forkChoice.finalized,
    );
    const verdicts = new PayloadVerdicts({ db, forkChoice, logger: log });
    this.#engineNotifier = new EngineNotifier({
      config,
      forkChoice,
      blocks: this.blocks,
      engine,
      events: this.events,
      logger: log,
      apply: (block, verdict) => this.#applyVerdict(verdicts, block, verdict),
    });
    this.#importQueue = new ImportQueue({
      config,
      db,
      clock,
      forkChoice,
      blocks: this.blocks,
      states: this.states,
      data: this.data,
      bls: this.#bls,
      engine,
      safeSlotsToImportOptimistically: options.safeSlotsToImportOptimistically,
      payloads,
      verdicts,
      events: this.events,
      logger: log,
      hotSnapshots: new HotSnapshots({ db, forkChoice, snapshots, snapshotWriter, states: this.states }),
      producedState: (root) => this.producer.postState(root),
      changes: this.#changes,
      settle: () => this.#settle(),
    });
    this.status = new SyncStatus({
      clock,
      tracker: this.#tracker,
      payloads,
      engine,
      revision: forkChoice.revision,
      horizonSlots: options.syncHorizonSlots,
    });
    this.engineAnswers = new EngineAnswers({
      clock,
      engine,
      status: this.status,
      notifier: this.#engineNotifier,
      importQueue: this.#importQueue,
    });
    this.validation = validationContextOf({
      config,
      clock,
      forkChoice,
      blocks: this.blocks,
      states: this.states,
      bls: this.#bls,
      kzg: this.data.kzg,
      tracker: this.#tracker,
      pools: this.pools,
      idle: () => this.#changes.idle(),
    });
    this.processor = new OperationProcessor({
      context: this.validation,
      forkChoice,
      events: this.events,
      pools: this.pools,
      refreshHead: () => this.refreshHead(),
    });
    this.sidecars = new SidecarProcessor({ context: this.validation, data: this.data, events: this.events });
    this.#dataUpkeep = new DataUpkeep({
      config,
      db,
      clock,
      engine,
      forkChoice,
      data: this.data,
      sidecars: this.sidecars,
      events: this.events,
      changes: this.#changes,
      isOwn: (root) => this.producer.postState(root) !== undefined,
      logger: log,
    });
    this.lightClient = new LightClientServer({
      config,
      db,
      forkChoice,
      blocks: this.blocks,
      states: this.states,
      events: this.events,
      logger: log,
    });
    this.builder = options.builder?.builder;
    this.#builderInUse =
      options.builder &&
      useBuilder(options.builder, {
        config,
        clock,
        forkChoice,
        status: this.status,
        bls: this.#bls,
        preparations: this.preparations,
        logger: log,
      });
    const payloadBuilder = new PayloadBuilder({
      config,
      engine,
      forkChoice,
      clock,
      logger: log,
      doubtHead: () => this.#engineNotifier.notify(),
    });
    this.eth1 = new Eth1Proposals(deposits);
    this.producer = new BlockProducer({
      config,
      states: this.states,
      engine,
      payloadBuilder,
      pools: this.pools,
      eth1: this.eth1,
      bids: this.#builderInUse?.bids,
    });
    this.#payloadAnnouncer = new PayloadAnnouncer({
      config,
      clock,
      tracker: this.#tracker,
      states: this.states,
      status: this.status,
      preparations: this.preparations,
      payloadBuilder,
      events: this.events,
      logger: log,
      reviewHead: () => this.#engineNotifier.notify(),
    });
    this.#epochPreparer = new EpochPreparer({
      clock,
      tracker: this.#tracker,
      states: this.states,
      status: this.status,
      events: this.events,
      logger: log,
    });
    this.#validatorCustody = new ValidatorCustody({
      config,
      clock,
      attached: this.attached,
      custody,
      states: this.states,
      forkChoice,
      events: this.events,
      logger: log,
    });
    this.moments = new Moments({
      db,
      changes: this.#changes,
      forkChoice,
      payloads,
      blocks: this.blocks,
      states: this.states,
      snapshots,
      snapshotWriter,
      pubkeys: pubkeyCache,
      pools: this.pools,
      dataPool: this.data.pool,
      dataHistory: this.history.data,
      importQueue: this.#importQueue,
      deposits,
      tracker: this.#tracker,
      archiver: this.#archiver,
      lightClient: this.lightClient,
      subscriptions: this.subscriptions,
      syncSubscriptions: this.syncSubscriptions,
      payloadAnnouncer: this.#payloadAnnouncer,
    });
  }

  /** The block that fork choice prefers. */
  get head(): ForkChoiceBlock {
    return this.#tracker.head;
  }

  /** The post-state of the head block, not advanced to the current slot. */
  get headState(): CachedBeaconStateAllForks {
    return this.#tracker.headState;
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

  /** By which other threads find the validators of public keys. */
  get keyTable(): KeyTable {
    return this.#pubkeys.table;
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
    this.#engineNotifier.notify();
    this.#dataUpkeep.start();
  }

  /**
   * Verifies a block wholly and takes it onto the chain. Resolves when the block is in the database and fork choice
   * has had its say; throws a `BlockRejection` when the block is not valid.
   */
  importBlock(signed: SignedBeaconBlock, arrival?: Arrival): Promise<ImportedBlock> {
    return this.#importQueue.importBlock(signed, arrival);
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
    return this.#importQueue.importOwn({ signed, root, arrivedAt, alongside }, postState);
  }

  /**
   * Imports blocks in ascending order, each the child of the one before and the first the child of a block we have; much
   * faster than one by one. Throws a `BlockRejection` that names the first block which is not valid. The blocks before
   * it stay imported, and so do those that were taken in before the signal aborted the rest.
   */
  importSegment(blocks: readonly SignedBeaconBlock[], signal?: AbortSignal): Promise<ImportedSegment> {
    return this.#importQueue.importSegment(blocks, signal);
  }

  /** Whether the block is in order and waits for the execution engine. */
  isWaitingForEngine(root: RootHex): boolean {
    return this.#importQueue.isWaiting(root);
  }

  /** Whether the block is in order and waits for its blobs or columns. */
  isWaitingForData(root: RootHex): boolean {
    return this.#importQueue.isAwaitingData(root);
  }

  /** How many blocks do. */
  get blocksWaitingForData(): number {
    return this.#importQueue.awaitingData;
  }

  /** Lets fork choice decide anew, with all attestations counted up to now. */
  refreshHead(): Promise<void> {
    return this.#changes.run(() => this.#settle());
  }

  /** Stores what lives in memory only, so that all of the chain is in the database. */
  store(): Promise<void> {
    return this.#changes.run(() => this.#store());
  }

  /** Ends what is under way and stores what lives in memory only. The database stays open; its owner closes it. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopTicking?.();
    this.#dataUpkeep.stopMaking();
    await this.#engineNotifier.close();
    await this.#importQueue.close();
    await this.#dataUpkeep.close();
    try {
      await this.store();
    } finally {
      await this.#archiver.idle();
      await this.#bls.close();
      await this.data.kzg.close();
      await this.#pubkeys.close();
    }
  }

  async #store(): Promise<void> {
    await this.#snapshotWriter.finish();
    await this.pools.save(this.#db, this.config);
  }

  async #restore(signal: AbortSignal | undefined): Promise<void> {
    const { config, clock, forkChoice, states, pools } = this;
    const importQueue = this.#importQueue;
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
        void this.#importQueue.retryWaiting();
        this.#payloadAnnouncer.resume();
      }),
      ...[
        this.#payloadAnnouncer,
        this.#epochPreparer,
        this.#validatorCustody,
        ...(this.#builderInUse?.followers ?? []),
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
    this.#dataUpkeep.onSlot(slot);
    void this.#importQueue.retryWaiting();
    await this.refreshHead();
    this.#engineNotifier.onSlot();
  }

  async #applyVerdict(verdicts: PayloadVerdicts, block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void> {
    const known = this.forkChoice.get(block.root)?.execution.status;
    // Nearly all answers confirm what is known, for which nobody has to wait in the queue.
    if (verdict.status === "optimistic" || verdict.status === known) return;
    await this.#changes.run(async () => {
      if (await verdicts.apply(block, verdict)) await this.#settle();
    });
  }

  async #settle(): Promise<void> {
    await this.#tracker.refresh();
    await this.lightClient.follow(this.head);
    if (!this.#archiver.isBehind) return;
    const { checkpoint, state } = await this.#archiver.archive();
    this.pools.pruneByFinality(state);
    this.#importQueue.dropUnfit();
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
