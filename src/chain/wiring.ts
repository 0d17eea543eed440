import { GENESIS_SLOT } from "@lodestar/params";
import { createBlsVerifier } from "../bls/verifier.ts";
import type { Kzg } from "../data/kzg/kzg.ts";
import { ThreadedKzg } from "../data/kzg/threaded-kzg.ts";
import type { ExecutionEngine, PayloadVerdict } from "../execution/engine.ts";
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
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import { Graffiti } from "./graffiti.ts";
import { HeadTracker } from "./head-tracker.ts";
import { History } from "./history/history.ts";
import { BadBlocks } from "./import/bad-blocks.ts";
import { ImportQueue } from "./import/import-queue.ts";
import { LightClientServer } from "./light-client/light-client-server.ts";
import { Moments } from "./moments.ts";
import type { OpenedParts, OpeningOptions } from "./opening.ts";
import { OperationProcessor } from "./operation-processor.ts";
import { PayloadVerdicts } from "./payload-verdicts.ts";
import { Pools } from "./pools/pools.ts";
import { BlockProducer } from "./production/block-producer.ts";
import { type BuilderUse, useBuilder } from "./production/builder-use.ts";
import { PayloadAnnouncer } from "./production/payload-announcer.ts";
import { PayloadBuilder } from "./production/payload-builder.ts";
import { ProposerHead } from "./production/proposer-head.ts";
import { ProposerPreparations } from "./production/proposer-preparations.ts";
import { SerialQueue } from "./serial-queue.ts";
import { HotSnapshots } from "./states/hot-snapshots.ts";
import { SnapshotWriter } from "./states/snapshot-writer.ts";
import { StateStore, type StateStoreLimits, stateLimitsFor } from "./states/state-store.ts";
import { AttachedValidators } from "./subscriptions/attached-validators.ts";
import { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";
import { SyncStatus } from "./sync-status.ts";
import { validationContextOf } from "./validation/chain-context.ts";
import { DuplicateKeys } from "./validation/duplicate-keys.ts";

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
  /** Of blocks whose proposer told none; by default the zero address. */
  suggestedFeeRecipient?: Uint8Array;
  /** Whether proposers orphan late blocks that have hardly any votes; by default they do. */
  proposerReorgs?: boolean;
  /** Left out by a node that builds all its payloads itself. */
  builder?: BuilderUse;
  custody?: CustodyOptions;
  /** By default a thread of the chain's own. It is closed with the chain. */
  kzg?: Kzg;
  /** By default `createBlsVerifier`. What it makes is closed with the chain. */
  createVerifier?: typeof createBlsVerifier;
}

/** What happens to the chain as a whole, which its parts bring about. */
interface ChainChanges {
  /** Follows fork choice to its head, and stores what has become final by then. */
  settle(): Promise<void>;
  /** The same in its turn among all that changes the chain. */
  refreshHead(): Promise<void>;
  /** Takes what an execution engine has said of a block's payload. */
  applyVerdict(verdicts: PayloadVerdicts, block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void>;
  /** Follows what an execution engine had refused, and finds valid now. */
  takeBack(verdicts: PayloadVerdicts, block: ForkChoiceBlock): Promise<void>;
}

export type WiredParts = ReturnType<typeof wireParts>;

/** Makes the parts of a chain, and tells each of the others that it needs. */
export function wireParts(
  { config, db, clock, engine, logger, ...options }: ChainParts,
  { pubkeyCache, forkChoice, snapshots, payloads, anchorState, deposits, historyEnd }: OpenedParts,
  { settle, refreshHead, applyVerdict, takeBack }: ChainChanges,
) {
  const log = logger.topic("chain");
  const changes = new SerialQueue();
  const subscriptions = new CommitteeSubscriptions();
  const syncSubscriptions = new SyncSubscriptions();
  const attached = new AttachedValidators(clock);
  const preparations = new ProposerPreparations(attached, {
    suggestedFeeRecipient: options.suggestedFeeRecipient,
    // The payloads of the built-in engine have no transactions, and so no fees.
    logger: engine.buildsAtOnce ? undefined : log,
  });
  const events = new ChainEvents(log);
  const { readGenesisState: read, stateLimits: limits = stateLimitsFor(anchorState.validators.length) } = options;
  const isDistant = snapshots.oldest.slot > GENESIS_SLOT;
  const genesis = isDistant && read ? new DistantGenesis({ config, pubkeyCache, read }) : undefined;
  const blocks = new BlockStore({ config, db, forkChoice, payloads, genesis });
  const states = new StateStore({ db, blocks, forkChoice, snapshots, genesis, limits });
  states.holdAdvanced(forkChoice.finalized.root, anchorState);
  const custody = new Custody(config, options.custody);
  const kzg = options.kzg ?? new ThreadedKzg(log);
  const data = new DataAvailability({ config, db, clock, kzg, custody });
  const pools = new Pools();
  const graffiti = new Graffiti({ chosen: options.graffiti, codes: options.graffitiCodes, engine });
  const { createVerifier = createBlsVerifier } = options;
  const bls = createVerifier({ pubkeyCache, logger: log });
  const { revision } = forkChoice;
  const history = new History({ config, db, clock, blocks, data, bls, revision, genesis }, historyEnd);
  const tracker = new HeadTracker({ forkChoice, states, payloads, events, logger: log }, forkChoice.head, anchorState);
  const snapshotWriter = new SnapshotWriter({ snapshots, changes, logger: log });
  const archiver = new FinalityArchiver(
    { db, forkChoice, states, snapshots, snapshotWriter, payloads, logger: log },
    forkChoice.finalized,
  );
  const proposerHead = new ProposerHead({
    config,
    clock,
    forkChoice,
    tracker,
    preparations,
    isEnabled: options.proposerReorgs,
  });
  const verdicts = new PayloadVerdicts({ db, forkChoice, logger: log });
  const engineNotifier = new EngineNotifier({
    config,
    forkChoice,
    blocks,
    engine,
    events,
    logger: log,
    apply: (block, verdict) => applyVerdict(verdicts, block, verdict),
    override: () => proposerHead.override(),
    takeBack: (block) => takeBack(verdicts, block),
  });
  const invalidBlocks = new BadBlocks();
  const importQueue = new ImportQueue({
    config,
    db,
    clock,
    forkChoice,
    blocks,
    states,
    data,
    bls,
    engine,
    safeSlotsToImportOptimistically: options.safeSlotsToImportOptimistically,
    payloads,
    verdicts,
    invalidBlocks,
    events,
    logger: log,
    hotSnapshots: new HotSnapshots({ db, forkChoice, snapshots, snapshotWriter, states }),
    producedState: (root) => producer.postState(root),
    changes,
    settle,
  });
  const status = new SyncStatus({
    clock,
    tracker,
    payloads,
    engine,
    revision: forkChoice.revision,
    horizonSlots: options.syncHorizonSlots,
  });
  const engineAnswers = new EngineAnswers({
    clock,
    engine,
    status,
    notifier: engineNotifier,
    importQueue,
  });
  const duplicates = new DuplicateKeys({ attached, clock, logger: logger.topic("validators") });
  const validation = validationContextOf({
    config,
    clock,
    forkChoice,
    blocks,
    states,
    bls,
    kzg: data.kzg,
    invalidBlocks,
    tracker,
    pools,
    duplicates,
    idle: () => changes.idle(),
  });
  const processor = new OperationProcessor({
    context: validation,
    forkChoice,
    events,
    pools,
    refreshHead,
  });
  const sidecars = new SidecarProcessor({ context: validation, data, events });
  const dataUpkeep = new DataUpkeep({
    config,
    db,
    clock,
    engine,
    forkChoice,
    data,
    sidecars,
    events,
    changes,
    isOwn: (root) => producer.postState(root) !== undefined,
    logger: log,
  });
  const lightClient = new LightClientServer({
    config,
    db,
    forkChoice,
    blocks,
    states,
    events,
    logger: log,
  });
  const builderInUse =
    options.builder &&
    useBuilder(options.builder, {
      config,
      clock,
      forkChoice,
      status,
      bls,
      preparations,
      logger: log,
    });
  const payloadBuilder = new PayloadBuilder({
    config,
    engine,
    forkChoice,
    clock,
    logger: log,
    doubtHead: () => engineNotifier.notify(),
  });
  const eth1 = new Eth1Proposals(deposits);
  const producer = new BlockProducer({
    config,
    states,
    engine,
    payloadBuilder,
    pools,
    eth1,
    bids: builderInUse?.bids,
  });
  const payloadAnnouncer = new PayloadAnnouncer({
    config,
    clock,
    tracker,
    proposerHead,
    states,
    status,
    preparations,
    payloadBuilder,
    events,
    logger: log,
    reviewHead: () => engineNotifier.notify(),
  });
  const epochPreparer = new EpochPreparer({
    clock,
    tracker,
    states,
    status,
    events,
    logger: log,
  });
  const validatorCustody = new ValidatorCustody({
    config,
    clock,
    attached,
    custody,
    states,
    forkChoice,
    events,
    logger: log,
  });
  const moments = new Moments({
    db,
    changes,
    forkChoice,
    payloads,
    blocks,
    states,
    snapshots,
    snapshotWriter,
    pubkeys: pubkeyCache,
    pools,
    dataPool: data.pool,
    dataHistory: history.data,
    importQueue,
    deposits,
    tracker,
    archiver,
    lightClient,
    subscriptions,
    syncSubscriptions,
    payloadAnnouncer,
  });
  return {
    events,
    blocks,
    states,
    data,
    pools,
    graffiti,
    history,
    status,
    engineAnswers,
    validation,
    processor,
    sidecars,
    lightClient,
    eth1,
    producer,
    proposerHead,
    moments,
    subscriptions,
    syncSubscriptions,
    attached,
    preparations,
    bls,
    tracker,
    archiver,
    engineNotifier,
    importQueue,
    dataUpkeep,
    builderInUse,
    payloadAnnouncer,
    epochPreparer,
    validatorCustody,
    snapshotWriter,
    changes,
  };
}
