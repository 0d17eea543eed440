import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { type Api, createApi } from "../api/api.ts";
import { createMethodTable } from "../api/bound-methods.ts";
import type { ApiContext, NodeCondition } from "../api/context.ts";
import type { DevControl } from "../api/dev-control.ts";
import type { Topic } from "../api/event-stream.ts";
import { Lanes } from "../api/lanes.ts";
import { createRouteTable } from "../api/rest/routes.ts";
import { ClosingStack } from "../async/closing-stack.ts";
import { BeaconChain } from "../chain/chain.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { CustodyOptions } from "../chain/data/custody.ts";
import type { ReadGenesisState } from "../chain/distant-genesis.ts";
import type { MonitorSelection } from "../chain/monitor/monitored-validators.ts";
import type { ValidatorMonitor } from "../chain/monitor/validator-monitor.ts";
import type { Authority } from "../chain/sync-status.ts";
import type { ChainParts } from "../chain/wiring.ts";
import type { KzgChoice } from "../data/kzg/backend.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { raiseSchema } from "../db/open-database.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { LocalNode } from "../network/local-node.ts";
import { type NetworkView, offlineNetworkView } from "../network/network-view.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import { openNodeKey } from "../network/node-key.ts";
import type { ServersThread } from "../server/thread/servers-thread.ts";
import type { BuilderOptions } from "./builder-options.ts";
import { asStartError, openDataDirectory, pubkeyFilePath } from "./data-directory.ts";
import { Eth1Connection } from "./eth1-connection.ts";
import type { Networking, NetworkingParts } from "./networking.ts";
import { openBuilder } from "./open-builder.ts";
import { openKzg } from "./open-kzg.ts";
import { type Servers, type ServersOptions, startServers } from "./servers.ts";

/** The chain that a database holds, with what it goes by. */
export interface ChainSource {
  readonly config: BeaconConfig;
  readonly clock: Clock;
  readonly engine: ExecutionEngine;
  /** Left out where the genesis state is not at hand. */
  readonly readGenesisState?: ReadGenesisState;
  /** The state that was put into the database just now; it is given once, as it is too large to be held any longer. */
  takeFirstState?(): BeaconStateAllForks | undefined;
  /** How far the head may lie behind the clock when no other node can be asked whether there is more. */
  readonly syncHorizonSlots?: number;
  /** By default that of one node among others. */
  readonly authority?: Authority;
  /** Left out where nothing suspends the node. */
  readonly suspensions?: SuspensionWatch;
  /** Left out for a clock that others go by, too. */
  stopClock?(): void | Promise<void>;
}

type ChainSettings = Pick<
  ChainParts,
  | "graffiti"
  | "graffitiCodes"
  | "stateLimits"
  | "snapshotIntervalEpochs"
  | "safeSlotsToImportOptimistically"
  | "proposerReorgs"
  | "suggestedFeeRecipient"
  | "manyKeys"
  | "kzg"
  | "createVerifier"
>;

/** What every node can be told by whoever starts it. */
export interface SharedOptions extends ChainSettings {
  dataDir: string;
  /** Ignored if `kzg` is given. By default `auto`. */
  kzgBackend?: KzgChoice;
  /** Left out by a node that speaks to no other. */
  networking?: NetworkingOptions;
  /** Left out by a node that builds all its payloads itself. */
  builder?: BuilderOptions;
  /** URLs of nodes of the deposit chain; none when it is not followed. */
  eth1?: readonly string[];
  /** Left out by a node that monitors no validators. */
  monitorValidators?: MonitorSelection;
  /** How many epochs before the current one the history is fetched to; 0 for none, infinite for all of it. */
  backfillEpochs?: number;
  logger: Logger;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
  /** Only when pending promises are kept track of. */
  futures?: ApiContext["futures"];
  /** Ends the opening. */
  signal?: AbortSignal;
}

interface BeaconNodeOptions<Source extends ChainSource> extends SharedOptions {
  /** Whether every write waits for the disk. */
  waitForDisk: boolean;
  /** Finds the chain in the database, or puts its first state there. */
  source(db: BeaconDb): Promise<Source>;
  /** Whether all the history is there that the chain is to have before it runs; it is unless this says otherwise. */
  isWarmedUp?(): boolean;
  /** Only of a dev chain. */
  control?(): DevControl | undefined;
  /** For a network that is not like those of the world. */
  networkTuning?: Pick<NetworkingParts, "allowPeer" | "heartbeatMs" | "requestLimits" | "syncLimits">;
}

interface NodeParts<Source> {
  opened: ClosingStack;
  dataDir: string;
  db: BeaconDb;
  source: Source;
  chain: BeaconChain;
  api: Api;
  networking: Networking | undefined;
  eth1: Eth1Connection | undefined;
  monitor: ValidatorMonitor | undefined;
  logger: Logger;
}

/**
 * A beacon node: its database, chain, network and sync, API and servers. All that it has opened is closed in reverse
 * order, by `close` or when it cannot be opened as a whole.
 */
export class BeaconNode<Source extends ChainSource = ChainSource> {
  readonly db: BeaconDb;
  readonly source: Source;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly networking: Networking | undefined;
  readonly eth1: Eth1Connection | undefined;
  readonly monitor: ValidatorMonitor | undefined;
  readonly #opened: ClosingStack;
  readonly #dataDir: string;
  readonly #logger: Logger;
  readonly #serversFailed = Promise.withResolvers<Error>();
  #closed: Promise<void> | undefined;

  /** The chain follows its clock from now on; the network and the servers are started apart. */
  static async open<Source extends ChainSource>(options: BeaconNodeOptions<Source>): Promise<BeaconNode<Source>> {
    try {
      return await BeaconNode.#open(options);
    } catch (error) {
      throw asStartError(options.dataDir, error) ?? error;
    }
  }

  static async #open<Source extends ChainSource>(options: BeaconNodeOptions<Source>): Promise<BeaconNode<Source>> {
    const { dataDir, logger, setLogSpec, futures, control } = options;
    await using opening = new ClosingStack();
    const db = await openDataDirectory(dataDir, { sync: options.waitForDisk, logger });
    opening.defer(() => db.close());
    const source = await options.source(db);
    opening.defer(() => source.engine.close?.());
    opening.defer(() => source.suspensions?.close());
    options.signal?.throwIfAborted();
    await raiseSchema(db);
    const { config, clock, engine, readGenesisState, syncHorizonSlots } = source;
    const { graffiti, graffitiCodes, stateLimits, snapshotIntervalEpochs, safeSlotsToImportOptimistically, manyKeys } =
      options;
    const builder = options.builder && openBuilder(options.builder, config, logger);
    if (builder) opening.defer(() => builder.close());
    const kzg = options.kzg ?? (await openKzg(options.kzgBackend, logger));
    const local = await LocalNode.open({ key: await openNodeKey(db), config, clock, db });
    const chain = await BeaconChain.open({
      config,
      db,
      clock,
      engine,
      readGenesisState,
      anchorState: source.takeFirstState?.(),
      logger,
      pubkeyFile: pubkeyFilePath(dataDir),
      manyKeys,
      kzg,
      createVerifier: options.createVerifier,
      graffiti,
      graffitiCodes,
      stateLimits,
      snapshotIntervalEpochs,
      safeSlotsToImportOptimistically,
      proposerReorgs: options.proposerReorgs,
      suggestedFeeRecipient: options.suggestedFeeRecipient,
      syncHorizonSlots,
      builder: options.builder && builder && { ...options.builder, builder },
      custody: options.networking && (await custodyAmongOthers(local, config, options.networking)),
      signal: options.signal,
    });
    opening.defer(() => chain.close());
    options.signal?.throwIfAborted();
    const { view, networking } = await openNetwork(chain, db, local, source, options);
    if (networking) opening.defer(() => networking.close());
    const condition: NodeCondition = {
      get isWarmedUp() {
        return options.isWarmedUp?.() ?? true;
      },
      get isDatabaseWritable() {
        return db.failure === undefined;
      },
      get executionClient() {
        return engine.clientVersion;
      },
    };
    const broadcast = networking?.broadcast;
    const api = createApi({ chain, network: view, broadcast, condition, control, setLogSpec, futures });
    chain.start();
    const eth1 = options.eth1?.length ? await Eth1Connection.open({ chain, urls: options.eth1, logger }) : undefined;
    if (eth1) opening.defer(() => eth1.close());
    const monitor = await openMonitor(chain, options, condition);
    if (monitor) opening.defer(() => monitor.close());
    return new BeaconNode({
      opened: opening.move(),
      dataDir,
      db,
      source,
      chain,
      api,
      networking,
      eth1,
      monitor,
      logger,
    });
  }

  private constructor(parts: NodeParts<Source>) {
    const { opened, dataDir, db, source, chain, api, networking, eth1, monitor, logger } = parts;
    this.#opened = opened;
    this.#dataDir = dataDir;
    this.db = db;
    this.source = source;
    this.chain = chain;
    this.api = api;
    this.networking = networking;
    this.eth1 = eth1;
    this.monitor = monitor;
    this.#logger = logger;
  }

  /** Starts the servers that are asked for, in the thread that was prepared for them, if one was. */
  async serve(options: ServersOptions, thread?: ServersThread): Promise<Servers> {
    const lanes = new Lanes(options.limits?.calls);
    const methods = createMethodTable(this.api, { lanes });
    const metrics = options.metrics && (await this.#measure(lanes));
    const routes = () => createRouteTable(methods);
    const { events, chain } = this.api.context;
    // The topics are those that the methods gave themselves.
    const feed = (topics: readonly string[]) => events.feed(topics as readonly Topic[]);
    const { revision } = chain.forkChoice;
    const served = { methods, routes, metrics, feed, revision };
    const servers = await startServers(served, options, this.#logger, thread);
    this.own(servers);
    void servers.failed.then((error) => this.#serversFailed.resolve(error));
    return servers;
  }

  /** The library for it is loaded only when somebody wants metrics. */
  async #measure(lanes: Lanes): Promise<Metrics> {
    const { Metrics } = await import("../metrics/metrics.ts");
    const { chain, db, networking, eth1, monitor } = this;
    const { engine } = this.source;
    const { network, events } = this.api.context;
    const metrics = new Metrics({ chain, engine, db, network, networking, eth1, monitor, events, lanes });
    this.own(metrics);
    return metrics;
  }

  /** Takes over what works on the node: it is closed before the node's own parts. */
  own(part: { close(): void | Promise<void> }): void {
    this.#opened.defer(async () => part.close());
  }

  /**
   * Calls back when the node cannot go on, so that whoever runs it has to close it: because a write to its database failed, and
   * nothing that it takes in from then on is kept, because its chain turns out to be damaged, or because its servers have come to
   * an end.
   */
  onFailure(callback: (failure: unknown) => void): void {
    void this.db.failed.then((error) => {
      this.#logger.error("The database cannot be written any more, so the node has to stop", { error });
      callback(asStartError(this.#dataDir, error));
    });
    void this.chain.failed.then((error) => {
      this.#logger.error("The chain cannot be gone on with, so the node has to stop", { error });
      callback(asStartError(this.#dataDir, error) ?? error);
    });
    void this.#serversFailed.promise.then((error) => {
      this.#logger.error("The servers cannot go on, so the node has to stop", { error });
      callback(error);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Ends all waiting for a time or for an answer of the execution engine, so that what is under way comes to its end. */
  async halt(): Promise<void> {
    this.source.engine.close?.();
    await this.source.stopClock?.();
  }

  async #close(): Promise<void> {
    await this.halt();
    try {
      await this.#opened[Symbol.asyncDispose]();
    } catch (error) {
      // What follows from a write that failed, such as pools that cannot be kept, says less than the write.
      throw asStartError(this.#dataDir, this.db.failure) ?? error;
    }
  }
}

/** What the node told others that it keeps it goes on keeping (fulu/validator.md, Validator custody). */
async function custodyAmongOthers(
  node: LocalNode,
  { NUMBER_OF_CUSTODY_GROUPS }: BeaconConfig,
  { supernode }: NetworkingOptions,
): Promise<CustodyOptions> {
  const groupCount = supernode ? NUMBER_OF_CUSTODY_GROUPS : node.metadata.custodyGroupCount;
  return { nodeId: await node.nodeId(), groupCount };
}

/** Its code is loaded only when validators are to be monitored. */
async function openMonitor(
  chain: BeaconChain,
  { monitorValidators: selection, logger }: SharedOptions,
  condition: Pick<NodeCondition, "isWarmedUp">,
): Promise<ValidatorMonitor | undefined> {
  if (selection === undefined) return undefined;
  const { ValidatorMonitor } = await import("../chain/monitor/validator-monitor.ts");
  const isWarmedUp = () => condition.isWarmedUp;
  return new ValidatorMonitor({ chain, selection, isWarmedUp, logger: logger.topic("validators") });
}

/** What a chain has to do with other nodes. The libraries for it are loaded only when there are to be any. */
async function openNetwork(
  chain: BeaconChain,
  db: BeaconDb,
  node: LocalNode,
  { authority, syncHorizonSlots, suspensions }: ChainSource,
  { networking: options, networkTuning, backfillEpochs, logger }: BeaconNodeOptions<ChainSource>,
): Promise<{ view: NetworkView; networking: Networking | undefined }> {
  if (options === undefined) {
    node.leaveSubnets();
    return { view: offlineNetworkView(node), networking: undefined };
  }
  node.followCustody(chain.data.custody);
  const { Networking } = await import("./networking.ts");
  const networking = await Networking.open({
    ...networkTuning,
    chain,
    db,
    node,
    options,
    authority,
    syncHorizonSlots,
    backfillEpochs,
    suspensions,
    logger,
  });
  return { view: networking.view, networking };
}
