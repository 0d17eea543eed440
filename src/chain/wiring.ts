import { GENESIS_SLOT } from "@lodestar/params";
import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import { SerialQueue } from "../async/serial-queue.ts";
import type { Timers } from "../async/timers.ts";
import { createBlsVerifier } from "../bls/verifier.ts";
import type { Kzg } from "../data/kzg/kzg.ts";
import { ThreadedKzg } from "../data/kzg/threaded-kzg.ts";
import type { ExecutionEngine, PayloadVerdict } from "../execution/engine.ts";
import { GenesisLoader, type ReadGenesisState } from "./anchor/genesis-loader.ts";
import { BuilderMarket } from "./bids/builder-market.ts";
import { ExecutionBids } from "./bids/execution-bids.ts";
import { BlockStore } from "./blocks/block-store.ts";
import { ChainSnapshots } from "./chain-snapshots.ts";
import type { Clock } from "./clock/clock.ts";
import { Custody, type CustodyOptions } from "./data/custody.ts";
import { DataAvailability } from "./data/data-availability.ts";
import { DataMaintenance } from "./data/data-maintenance.ts";
import { SidecarProcessor } from "./data/sidecar-processor.ts";
import { ValidatorCustody } from "./data/validator-custody.ts";
import { EngineNotifier } from "./engine/engine-notifier.ts";
import { PayloadVerdicts } from "./engine/payload-verdicts.ts";
import { PendingVerdicts } from "./engine/pending-verdicts.ts";
import { Eth1Proposals } from "./eth1/eth1-proposals.ts";
import { ChainEvents } from "./events.ts";
import { FinalityArchiver } from "./finality-archiver.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import { ConfirmationTracker } from "./head/confirmation-tracker.ts";
import { EpochPreparer } from "./head/epoch-preparer.ts";
import { HeadTracker } from "./head/head-tracker.ts";
import { SyncStatus } from "./head/sync-status.ts";
import { History } from "./history/history.ts";
import { ImportQueue } from "./import/import-queue.ts";
import { InvalidBlockRoots } from "./import/invalid-block-roots.ts";
import { LightClientServer } from "./light-client/light-client-server.ts";
import type { OpenedParts, OpeningOptions } from "./open-parts.ts";
import { OperationProcessor } from "./operation-processor.ts";
import { ParentPayloads } from "./payloads/parent-payloads.ts";
import { PayloadQueue } from "./payloads/payload-queue.ts";
import { PayloadStore } from "./payloads/payload-store.ts";
import { Pools } from "./pools/pools.ts";
import { BlockProducer } from "./production/block-producer.ts";
import { type ConnectedBuilder, createBuilderComponents } from "./production/builder-components.ts";
import { Graffiti } from "./production/graffiti.ts";
import { PayloadBuilder } from "./production/payload-builder.ts";
import { PayloadPreparer } from "./production/payload-preparer.ts";
import { ProposerHead } from "./production/proposer-head.ts";
import { ProposerPreparations } from "./production/proposer-preparations.ts";
import type { ChainSettings } from "./settings.ts";
import { HotSnapshots } from "./states/hot-snapshots.ts";
import { SnapshotWriter } from "./states/snapshot-writer.ts";
import { type StateStoreLimits, stateLimitsFor } from "./states/state-limits.ts";
import { StateStore } from "./states/state-store.ts";
import { AttachedValidators } from "./subscriptions/attached-validators.ts";
import { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";
import { validationContextOf } from "./validation/chain-context.ts";
import { DuplicateKeys } from "./validation/duplicate-keys.ts";

export interface ChainParts extends OpeningOptions, ChainTuning {
  settings: ChainSettings;
  clock: Clock;
  engine: ExecutionEngine;
  /** Used if the chain was started from a state after genesis. Omitted if the genesis state is unavailable. */
  readGenesisState?: ReadGenesisState;
  syncHorizonSlots?: number;
  /** External builder; omitted to build all payloads locally. */
  builder?: ConnectedBuilder;
  custody?: CustodyOptions;
}

/** Overrides for tests. */
export interface ChainTuning extends Pick<OpeningOptions, "manyKeys" | "snapshotIntervalEpochs"> {
  stateLimits?: StateStoreLimits;
  /** Defaults to a KZG thread owned by the chain. Closed with the chain. */
  kzg?: Kzg;
  /** Defaults to `createBlsVerifier`. The verifier is closed with the chain. */
  createVerifier?: typeof createBlsVerifier;
  builderTimers?: Pick<Timers, "sleep" | "unixNow">;
}

/** Operations on the whole chain, triggered by components. */
interface ChainChanges {
  /** Updates the head and archives newly finalized blocks. */
  settle(): Promise<void>;
  /** Runs `settle` in the change queue. */
  refreshHead(): Promise<void>;
  /** Applies a payload verdict from the execution engine. */
  applyVerdict(verdicts: PayloadVerdicts, block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void>;
  /** Reinstates a rejected block that turned out to be valid. */
  reinstate(verdicts: PayloadVerdicts, block: ForkChoiceBlock): Promise<void>;
}

export type WiredParts = ReturnType<typeof wireParts>;

/** Creates and connects the components of a chain. */
export function wireParts(
  { config, db, clock, engine, logger, settings, ...options }: ChainParts,
  { pubkeyCache, forkChoice, snapshots, payloads, anchorState, deposits, historyEnd }: OpenedParts,
  { settle, refreshHead, applyVerdict, reinstate }: ChainChanges,
) {
  const log = logger.topic("chain");
  const changes = new SerialQueue();
  const subscriptions = new CommitteeSubscriptions();
  const syncSubscriptions = new SyncSubscriptions();
  const attached = new AttachedValidators(clock);
  const preparations = new ProposerPreparations(attached, {
    settings,
    // Payloads of the built-in engine have no transactions and therefore no fees.
    logger: engine.buildsAtOnce ? undefined : log,
  });
  const events = new ChainEvents(log);
  const { readGenesisState: read, stateLimits: limits = stateLimitsFor(anchorState.validators.length) } = options;
  const isDistant = snapshots.oldest.slot > GENESIS_SLOT;
  const genesis = isDistant && read ? new GenesisLoader({ config, pubkeyCache, read }) : undefined;
  const blocks = new BlockStore({ config, db, forkChoice, payloads, genesis });
  const payloadStore = new PayloadStore({ config, db });
  const states = new StateStore({ db, blocks, forkChoice, snapshots, genesis, limits });
  states.holdAdvanced(forkChoice.finalized.root, anchorState);
  const custody = new Custody(config, options.custody);
  const kzg = options.kzg ?? new ThreadedKzg(log);
  const data = new DataAvailability({ config, db, clock, kzg, custody });
  const pools = new Pools();
  const graffiti = new Graffiti({ settings, engine });
  const { createVerifier = createBlsVerifier } = options;
  const bls = createVerifier({ pubkeyCache, logger: log });
  const { revision } = forkChoice;
  const builderPubkey = (index: number) => {
    const { builders } = tracker.headState as Partial<CachedBeaconStateGloas>;
    return builders && index < builders.length ? builders.getReadonly(index).pubkey : undefined;
  };
  const history = new History({ config, db, clock, blocks, data, bls, builderPubkey, revision, genesis }, historyEnd);
  const tracker = new HeadTracker({ forkChoice, states, payloads, events, logger: log }, forkChoice.head, anchorState);
  const confirmation = new ConfirmationTracker({ settings, config, forkChoice, tracker, states, events, logger: log });
  const snapshotWriter = new SnapshotWriter({ snapshots, changes, logger: log });
  const archiver = new FinalityArchiver(
    { db, forkChoice, states, snapshots, snapshotWriter, payloads, logger: log },
    forkChoice.finalized,
  );
  const proposerHead = new ProposerHead({ settings, config, clock, forkChoice, tracker, preparations });
  const verdicts = new PayloadVerdicts({ db, forkChoice, logger: log });
  const engineNotifier = new EngineNotifier({
    config,
    forkChoice,
    blocks,
    payloads: payloadStore,
    engine,
    events,
    logger: log,
    apply: (block, verdict) => applyVerdict(verdicts, block, verdict),
    override: () => proposerHead.override(),
    reinstate: (block) => reinstate(verdicts, block),
  });
  const invalidBlocks = new InvalidBlockRoots();
  const importQueue = new ImportQueue({
    settings,
    config,
    db,
    clock,
    forkChoice,
    blocks,
    states,
    data,
    bls,
    engine,
    payloads,
    payloadStore,
    verdicts,
    invalidBlocks,
    events,
    logger: log,
    hotSnapshots: new HotSnapshots({ db, forkChoice, snapshots, snapshotWriter, states }),
    producedState: (root) => producer.postState(root),
    changes,
    settle,
  });
  const payloadQueue = new PayloadQueue({
    config,
    db,
    clock,
    forkChoice,
    blocks,
    states,
    data,
    bls,
    engine,
    payloads,
    payloadStore,
    verdicts,
    events,
    logger: log,
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
  const pendingVerdicts = new PendingVerdicts({
    clock,
    engine,
    status,
    notifier: engineNotifier,
    importQueue,
    payloadQueue,
  });
  const duplicates = new DuplicateKeys({ attached, clock, logger: logger.topic("validators") });
  const validation = validationContextOf({
    config,
    clock,
    forkChoice,
    blocks,
    payloadStore,
    states,
    bls,
    kzg: data.kzg,
    invalidBlocks,
    tracker,
    pools,
    duplicates,
    idle: () => changes.idle(),
  });
  const executionBids = new ExecutionBids({ bls, logger: log });
  const builderMarket = new BuilderMarket({ builder: options.builder?.client, bls, logger: log });
  const processor = new OperationProcessor({
    context: validation,
    forkChoice,
    events,
    pools,
    executionBids,
    refreshHead,
  });
  const sidecars = new SidecarProcessor({ context: validation, data, events });
  const dataMaintenance = new DataMaintenance({
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
  const builderComponents =
    options.builder &&
    createBuilderComponents(options.builder, {
      config,
      clock,
      forkChoice,
      status,
      bls,
      preparations,
      logger: log,
      timers: options.builderTimers,
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
  const parentPayloads = new ParentPayloads({ forkChoice, blocks, payloadStore });
  const producer = new BlockProducer({
    config,
    states,
    forkChoice,
    parentPayloads,
    engine,
    payloadBuilder,
    pools,
    eth1,
    bids: builderComponents?.bids,
    executionBids,
  });
  const payloadPreparer = new PayloadPreparer({
    config,
    clock,
    tracker,
    forkChoice,
    pools,
    proposerHead,
    states,
    parentPayloads,
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
  const chainSnapshots = new ChainSnapshots({
    db,
    changes,
    forkChoice,
    payloads,
    payloadStore,
    payloadQueue,
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
    confirmation,
    archiver,
    lightClient,
    subscriptions,
    syncSubscriptions,
    payloadPreparer,
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
    pendingVerdicts,
    validation,
    processor,
    sidecars,
    lightClient,
    eth1,
    producer,
    proposerHead,
    chainSnapshots,
    subscriptions,
    syncSubscriptions,
    attached,
    preparations,
    bls,
    tracker,
    confirmation,
    archiver,
    engineNotifier,
    importQueue,
    payloadStore,
    payloadQueue,
    parentPayloads,
    executionBids,
    builderMarket,
    dataMaintenance,
    builderComponents,
    payloadPreparer,
    epochPreparer,
    validatorCustody,
    snapshotWriter,
    changes,
  };
}
