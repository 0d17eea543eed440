import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { gloas, RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Builder } from "../execution/builder/builder.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import { checkpointsOf } from "./anchor/anchor.ts";
import type { BuilderMarket } from "./bids/builder-market.ts";
import type { ExecutionBids } from "./bids/execution-bids.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import type { ChainSnapshots } from "./chain-snapshots.ts";
import type { Clock } from "./clock/clock.ts";
import type { DataAvailability } from "./data/data-availability.ts";
import type { SidecarProcessor } from "./data/sidecar-processor.ts";
import type { PendingVerdicts } from "./engine/pending-verdicts.ts";
import type { Eth1Proposals } from "./eth1/eth1-proposals.ts";
import type { ChainEvents } from "./events.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { PayloadVerification } from "./fork-choice/payloads/payload-verification.ts";
import { type Checkpoint, type ForkChoiceBlock, type ForkChoiceNode, sameCheckpoint } from "./fork-choice/types.ts";
import type { SyncStatus } from "./head/sync-status.ts";
import { HeadSettler } from "./head-settler.ts";
import type { History } from "./history/history.ts";
import type { ImportedBlock } from "./import/block-importer.ts";
import type { Arrival } from "./import/import-queue.ts";
import { OwnImports } from "./import/own-imports.ts";
import type { ExtraWrites } from "./import/segment.ts";
import type { ImportedSegment } from "./import/segment-importer.ts";
import type { LightClientServer } from "./light-client/light-client-server.ts";
import { type OpenedParts, openParts } from "./open-parts.ts";
import type { OperationProcessor } from "./operation-processor.ts";
import type { ParentPayloads } from "./payloads/parent-payloads.ts";
import type { EnvelopeArrival, ImportedPayload } from "./payloads/payload-queue.ts";
import type { PayloadStore } from "./payloads/payload-store.ts";
import type { GivenSignature } from "./pools/pooled-signature.ts";
import type { Pools } from "./pools/pools.ts";
import type { BlockProducer, ProducedFullBlock } from "./production/block-producer.ts";
import type { Graffiti } from "./production/graffiti.ts";
import type { ProposerHead } from "./production/proposer-head.ts";
import type { ProposerPreparations } from "./production/proposer-preparations.ts";
import { asDatabaseError } from "./pubkeys/pubkey-error.ts";
import type { Pubkeys } from "./pubkeys/pubkeys.ts";
import { storeRecentBlocks } from "./restoring/recent-blocks.ts";
import { restoreChain } from "./restoring/restore-chain.ts";
import { SlotWork } from "./slot-work.ts";
import type { StateStore } from "./states/state-store.ts";
import type { AttachedValidators } from "./subscriptions/attached-validators.ts";
import type { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import type { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";
import type { ValidatedBlock } from "./validation/block.ts";
import type { ValidationContext } from "./validation/context.ts";
import type { ValidatedEnvelope } from "./validation/payloads/envelope.ts";
import { type ChainParts, type WiredParts, wireParts } from "./wiring.ts";

/** Beacon chain of a node. Changes are serialized in one queue; reads bypass the queue. */
export class BeaconChain {
  readonly config: BeaconConfig;
  readonly clock: Clock;
  readonly forkChoice: ForkChoice;
  readonly payloads: PayloadVerification;
  /** Payloads of blocks since gloas. */
  readonly payloadStore: PayloadStore;
  readonly parentPayloads: ParentPayloads;
  /** Bids of builders since gloas. */
  readonly executionBids: ExecutionBids;
  readonly builderMarket: BuilderMarket;
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
  /** Undefined if no external builder is configured. */
  readonly builder: Builder | undefined;
  readonly eth1: Eth1Proposals;
  readonly graffiti: Graffiti;
  readonly lightClient: LightClientServer;
  readonly subscriptions: CommitteeSubscriptions;
  readonly syncSubscriptions: SyncSubscriptions;
  readonly attached: AttachedValidators;
  readonly preparations: ProposerPreparations;
  readonly status: SyncStatus;
  readonly pendingVerdicts: PendingVerdicts;
  /** Dependencies of gossip validation. */
  readonly validation: ValidationContext;
  readonly genesis: { time: number; validatorsRoot: Uint8Array };

  readonly #db: BeaconDb;
  readonly #pubkeys: Pubkeys;
  readonly #engine: ExecutionEngine;
  /** All components, including internal ones. */
  readonly #wired: WiredParts;
  readonly #settler: HeadSettler;
  readonly #ownImports: OwnImports;
  readonly #logger: Logger;
  /** Fork choice anchor and the checkpoints from the anchor state. */
  readonly #anchorCheckpoints: { anchor: Checkpoint; justified: Checkpoint; finalized: Checkpoint };
  readonly chainSnapshots: ChainSnapshots;
  #stopTicking: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  /** Opens the chain stored in the database. */
  static async open(parts: ChainParts): Promise<BeaconChain> {
    const chain = new BeaconChain(parts, await openParts(parts));
    try {
      await chain.#restore(parts.signal);
    } catch (error) {
      await chain.#wired.engineNotifier.close();
      await chain.#wired.bls.close();
      await chain.data.kzg.close();
      await chain.#pubkeys.close();
      throw asDatabaseError(error, parts.db);
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
    this.builder = builder?.client;
    this.#db = db;
    this.#engine = engine;
    this.#logger = logger.topic("chain");
    this.#pubkeys = pubkeyCache;
    this.#anchorCheckpoints = { anchor: forkChoice.finalized, ...checkpointsOf(anchorState, forkChoice.finalized) };
    const wired = wireParts(parts, opened, {
      settle: () => this.#settler.settle(),
      refreshHead: () => this.refreshHead(),
      applyVerdict: (verdicts, block, verdict) => this.#settler.applyVerdict(verdicts, block, verdict),
      reinstate: (verdicts, block) => this.#settler.reinstate(verdicts, block),
    });
    this.#wired = wired;
    this.#settler = new HeadSettler({ ...wired, forkChoice, payloads, logger: this.#logger });
    this.#ownImports = new OwnImports({ ...wired, clock });
    this.events = wired.events;
    this.blocks = wired.blocks;
    this.payloadStore = wired.payloadStore;
    this.parentPayloads = wired.parentPayloads;
    this.executionBids = wired.executionBids;
    this.builderMarket = wired.builderMarket;
    this.states = wired.states;
    this.data = wired.data;
    this.pools = wired.pools;
    this.graffiti = wired.graffiti;
    this.history = wired.history;
    this.status = wired.status;
    this.pendingVerdicts = wired.pendingVerdicts;
    this.validation = wired.validation;
    this.processor = wired.processor;
    this.sidecars = wired.sidecars;
    this.lightClient = wired.lightClient;
    this.eth1 = wired.eth1;
    this.producer = wired.producer;
    this.proposerHead = wired.proposerHead;
    this.chainSnapshots = wired.chainSnapshots;
    this.subscriptions = wired.subscriptions;
    this.syncSubscriptions = wired.syncSubscriptions;
    this.attached = wired.attached;
    this.preparations = wired.preparations;
  }

  /** Head block selected by fork choice. */
  get head(): ForkChoiceBlock {
    return this.#wired.tracker.head;
  }

  /** Head block with its payload status: since gloas, whether the chain's newest payload is its own. */
  get headNode(): ForkChoiceNode {
    return this.#wired.tracker.headNode;
  }

  /** Post-state of the head block, not advanced to the current slot. */
  get headState(): CachedBeaconStateAllForks {
    return this.#wired.tracker.headState;
  }

  /**
   * Newest finalized checkpoint, as reported to clients and peers. Differs from fork choice only while the anchor is
   * fork choice's finalized checkpoint: if the anchor state is from the middle of an epoch, no chain contains that
   * checkpoint.
   */
  get finalizedCheckpoint(): Checkpoint {
    const { finalized } = this.forkChoice;
    return sameCheckpoint(finalized, this.#anchorCheckpoints.anchor) ? this.#anchorCheckpoints.finalized : finalized;
  }

  /** Newest justified checkpoint, as reported to clients and peers. */
  get justifiedCheckpoint(): Checkpoint {
    const { justified } = this.forkChoice;
    return sameCheckpoint(justified, this.#anchorCheckpoints.anchor) ? this.#anchorCheckpoints.justified : justified;
  }

  /** Resolves with the cause of an unrecoverable error. */
  get failed(): Promise<unknown> {
    return this.#pubkeys.failed.then((error) => asDatabaseError(error, this.#db));
  }

  /** Starts following the clock. */
  start(): void {
    this.#stopTicking ??= new SlotWork({
      ...this.#wired,
      clock: this.clock,
      engine: this.#engine,
      forkChoice: this.forkChoice,
      refreshHead: () => this.refreshHead(),
    }).start();
    // Catches up on slots that started while the chain was being opened.
    this.forkChoice.onTick(this.clock.currentSlot);
    this.#wired.engineNotifier.notify();
    this.#wired.dataMaintenance.start();
  }

  /**
   * Verifies and imports a block. Resolves once it is stored and the head is updated; throws a `BlockRejection` if it
   * is invalid. For a `ValidatedBlock`, skips the checks already done by gossip validation.
   */
  importBlock(block: SignedBeaconBlock | ValidatedBlock, arrival?: Arrival): Promise<ImportedBlock> {
    return this.#wired.importQueue.importBlock(block, arrival);
  }

  /** True while a block from any source is being verified and stored. */
  isImporting(root: RootHex): boolean {
    return this.#wired.importQueue.isImporting(root);
  }

  /** Resolves once the block is no longer being imported, whether the import succeeded or failed. */
  untilImportEnds(root: RootHex): Promise<void> {
    return this.#wired.importQueue.untilImportEnds(root);
  }

  /**
   * Imports a block produced by this node and signed by one of its validators, without verifying it again. A deferred
   * signature is made when the block is stored.
   *
   * @param extraWrites adds writes to the batch storing the block
   */
  importOwnBlock(
    produced: ProducedFullBlock,
    signature: GivenSignature,
    extraWrites: ExtraWrites,
  ): Promise<ImportedBlock> {
    return this.#ownImports.importBlock(produced, signature, extraWrites);
  }

  /**
   * Verifies and imports the payload of a block since gloas. Resolves once it is stored and the head is updated; throws
   * a `BlockRejection` if it is invalid, or if it has to wait for its block, its data or the execution engine.
   */
  importPayload(
    envelope: gloas.SignedExecutionPayloadEnvelope | ValidatedEnvelope,
    arrival?: EnvelopeArrival,
  ): Promise<ImportedPayload> {
    return this.#wired.payloadQueue.importEnvelope(envelope, arrival);
  }

  /** Imports a payload that was produced by this node and signed by one of its validators. */
  importOwnPayload(
    envelope: gloas.SignedExecutionPayloadEnvelope,
    arrival?: Pick<EnvelopeArrival, "arrivedAt">,
  ): Promise<ImportedPayload> {
    return this.#ownImports.importPayload(envelope, arrival);
  }

  /**
   * What members of the payload timeliness committee attest to (gloas/validator.md, Constructing the
   * `PayloadAttestationMessage`).
   */
  payloadAttestationVote(block: {
    signed: SignedBeaconBlock;
    root: RootHex;
  }): Pick<gloas.PayloadAttestationData, "payloadPresent" | "blobDataAvailable"> {
    const { payloadQueue } = this.#wired;
    return {
      payloadPresent: payloadQueue.isTimely(block.root),
      blobDataAvailable: payloadQueue.isDataAvailable(block),
    };
  }

  /**
   * Imports a chain segment: consecutive blocks in ascending order, starting with a child of a known block. Faster than
   * importing blocks one by one. Throws a `BlockRejection` for the first invalid block. Earlier blocks stay imported,
   * even after an abort.
   */
  importSegment(blocks: readonly SignedBeaconBlock[], signal?: AbortSignal): Promise<ImportedSegment> {
    return this.#wired.importQueue.importSegment(blocks, signal);
  }

  /** Returns true if the block is valid but still waiting for the execution engine. */
  isWaitingForEngine(root: RootHex): boolean {
    return this.#wired.importQueue.isWaiting(root);
  }

  /** Returns true if the block is valid but still waiting for its blobs or data columns. */
  isWaitingForData(root: RootHex): boolean {
    return this.#wired.importQueue.isAwaitingData(root);
  }

  /** Returns true if the block waits for the payload of its parent. */
  isAwaitingPayload(root: RootHex): boolean {
    return this.#wired.importQueue.isAwaitingPayload(root);
  }

  /** Returns true if the payload of the block has arrived, but waits for its data or the execution engine. */
  isPayloadPending(root: RootHex): boolean {
    return this.#wired.payloadQueue.isWaiting(root);
  }

  /** Number of blocks waiting for data. */
  get blocksWaitingForData(): number {
    return this.#wired.importQueue.awaitingData;
  }

  /** Recomputes the head from all attestations received so far. */
  refreshHead(): Promise<void> {
    return this.#wired.changes.run(() => this.#settler.settle());
  }

  /** Persists the operation pools and the snapshot being written. */
  store(): Promise<void> {
    return this.#wired.changes.run(() => this.#store());
  }

  /** Stops all work and persists in-memory data. Leaves the database open. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopTicking?.();
    this.#wired.dataMaintenance.stopProducing();
    await this.#wired.engineNotifier.close();
    await this.#wired.importQueue.close();
    await this.#wired.payloadQueue.close();
    await this.#wired.dataMaintenance.close();
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
    await storeRecentBlocks({ db: this.#db, forkChoice: this.forkChoice, payloadQueue: this.#wired.payloadQueue });
  }

  async #restore(signal: AbortSignal | undefined): Promise<void> {
    const { config, clock, forkChoice, blocks, states, pools } = this;
    const { importQueue, payloadQueue } = this.#wired;
    const logger = this.#logger;
    const restored = await restoreChain({
      config,
      db: this.#db,
      clock,
      forkChoice,
      blocks,
      states,
      pools,
      importQueue,
      payloadQueue,
      logger,
      signal,
    });
    await this.history.data.open();
    await this.#settler.settle();
    logger.info("Chain opened", {
      head: this.head.slot,
      justified: forkChoice.justified.epoch,
      finalized: forkChoice.finalized.epoch,
      restored,
    });
  }
}
