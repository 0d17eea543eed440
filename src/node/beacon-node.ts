import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { type Api, createApi } from "../api/api.ts";
import { createMethodTable } from "../api/bound-methods.ts";
import type { ApiContext, NodeHealth } from "../api/context.ts";
import type { DevControl } from "../api/dev-control.ts";
import { DEFAULT_CALL_LIMITS, Lanes } from "../api/lanes.ts";
import { methodGroups } from "../api/method-groups.ts";
import { documentRoutes } from "../api/rest/documents.ts";
import { createRouteTable } from "../api/rest/routes.ts";
import { feedOf } from "../api/subscription-feed.ts";
import { ClosingStack } from "../async/closing-stack.ts";
import type { ReadGenesisState } from "../chain/anchor/genesis-loader.ts";
import { BeaconChain } from "../chain/chain.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { CustodyOptions } from "../chain/data/custody.ts";
import type { Authority } from "../chain/head/sync-status.ts";
import type { ValidatorMonitor } from "../chain/monitor/validator-monitor.ts";
import type { ChainTuning } from "../chain/wiring.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { createMemoryDatabase, upgradeSchema } from "../db/open-database.ts";
import type { DevEvm } from "../dev/evm/dev-evm.ts";
import type { HttpBuilder } from "../execution/builder/http-builder.ts";
import type { ExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { LocalNode } from "../network/local-node.ts";
import type { NetworkSettings } from "../network/network-settings.ts";
import { type NetworkView, offlineNetworkView } from "../network/network-view.ts";
import { openNodeKey } from "../network/node-key.ts";
import type { ServersThread } from "../server/thread/main/servers-thread.ts";
import type { SyncSettings } from "../sync/settings.ts";
import { ethMethodThread } from "./eth-reads/method-thread.ts";
import { Eth1Connection } from "./execution/eth1-connection.ts";
import type { Networking, NetworkingParts } from "./networking.ts";
import { openKzg } from "./open-kzg.ts";
import { type Servers, type ServersOptions, startServers } from "./servers/servers.ts";
import type { NodeSettings } from "./settings.ts";
import { asStartError, databasePath, openDataDirectory, pubkeyFilePath } from "./storage/data-directory.ts";

/** A stored chain with its configuration, clock and execution engine. */
export interface ChainSource {
  readonly config: BeaconConfig;
  readonly clock: Clock;
  readonly engine: ExecutionEngine;
  /** Omitted if the genesis state is not available. */
  readonly readGenesisState?: ReadGenesisState;
  /** Returns the anchor state of a new chain on the first call, and then releases it because of its size. */
  takeAnchorState?(): BeaconStateAllForks | undefined;
  /** Maximum distance between head and clock at which the node counts as synced without peers. */
  readonly syncHorizonSlots?: number;
  /** Defaults to the authority of an ordinary node. */
  readonly authority?: Authority;
  /** Omitted if the process is never suspended. */
  readonly suspensions?: SuspensionWatch;
  /** Omitted if the clock is shared. */
  stopClock?(): void | Promise<void>;
  /** Closes the source's resources after the chain is closed. */
  close?(): Promise<void>;
}

/** Options shared by all nodes. */
export interface SharedOptions extends NodeSettings {
  /** Keeps the database in memory. The data directory is created only if other files, such as dumps, are written. */
  isInMemory?: boolean;
  logger: Logger;
  /** Throws a `LogSpecError` if the specification is malformed. */
  setLogSpec(spec: string): void;
  /** Set to track pending promises. */
  futures?: ApiContext["futures"];
  /** Cancels opening the node. */
  signal?: AbortSignal;
  /** Overrides for tests. */
  chainTuning?: ChainTuning;
}

interface BeaconNodeOptions<Source extends ChainSource> extends SharedOptions {
  /** Syncs every write to disk. */
  waitForDisk: boolean;
  /** Opens the stored chain, or initializes the database. */
  source(db: BeaconDb): Promise<Source>;
  /** Returns false while the warm-up history is being created. Default: always true. */
  isWarmedUp?(): boolean;
  sync: SyncSettings;
  /** Control of a dev chain. */
  control?(): DevControl | undefined;
  /** The `eth_*` methods of a chain with an EVM. */
  eth?(): ApiContext["eth"];
  /** Overrides for test networks. */
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

/** A beacon node: database, chain, network, sync, API and servers. Closes its parts in reverse order of opening. */
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

  /** Opens the database and starts the chain. The network and the servers are started separately. */
  static async open<Source extends ChainSource>(options: BeaconNodeOptions<Source>): Promise<BeaconNode<Source>> {
    try {
      return await BeaconNode.#open(options);
    } catch (error) {
      throw asStartError(options.dataDir, error) ?? error;
    }
  }

  static async #open<Source extends ChainSource>(options: BeaconNodeOptions<Source>): Promise<BeaconNode<Source>> {
    const { dataDir, logger, setLogSpec, futures, control, eth } = options;
    await using opening = new ClosingStack();
    const db = options.isInMemory
      ? await createMemoryDatabase(databasePath(dataDir))
      : await openDataDirectory(dataDir, { sync: options.waitForDisk, logger });
    opening.defer(() => db.close());
    const source = await options.source(db);
    opening.defer(() => source.close?.());
    opening.defer(() => source.engine.close?.());
    opening.defer(() => source.suspensions?.close());
    options.signal?.throwIfAborted();
    await upgradeSchema(db);
    const { config, clock, engine, readGenesisState, syncHorizonSlots } = source;
    const builder = await connectBuilder(options, config);
    if (builder) opening.defer(() => builder.close());
    const kzg = options.chainTuning?.kzg ?? (await openKzg(options.kzgBackend, logger));
    const local = await LocalNode.open({ key: await openNodeKey(db), config, clock, db });
    const chain = await BeaconChain.open({
      config,
      db,
      clock,
      engine,
      readGenesisState,
      anchorState: source.takeAnchorState?.(),
      logger,
      ...(!options.isInMemory && { pubkeyFile: pubkeyFilePath(dataDir) }),
      ...options.chainTuning,
      kzg,
      settings: options.chain,
      syncHorizonSlots,
      builder: options.builder && builder && { client: builder, settings: options.builder },
      custody: options.networking && (await custodyOptions(local, config, options.networking)),
      signal: options.signal,
    });
    opening.defer(() => chain.close());
    options.signal?.throwIfAborted();
    const { view, networking } = await openNetwork(chain, db, local, source, options);
    if (networking) opening.defer(() => networking.close());
    const condition: NodeHealth = {
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
    const api = createApi({ chain, network: view, broadcast, health: condition, control, eth, setLogSpec, futures });
    chain.start();
    const eth1 = options.eth1.length > 0 ? await Eth1Connection.open({ chain, urls: options.eth1, logger }) : undefined;
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

  /** Starts the configured servers, in `thread` if set. For reads, the servers call the thread of `evm` directly. */
  async serve(
    options: ServersOptions,
    { thread, evm }: { thread?: ServersThread | undefined; evm?: DevEvm | undefined } = {},
  ): Promise<Servers> {
    const calls = options.limits?.calls ?? DEFAULT_CALL_LIMITS;
    const lanes = new Lanes(calls);
    const methods = createMethodTable(this.api, { lanes });
    const metrics = options.metrics && (await this.#createMetrics(lanes));
    const routes = () => [...createRouteTable(methods), ...documentRoutes(() => methodGroups)];
    const { chain } = this.api.context;
    const feed = (topics: readonly string[]) => feedOf(this.api.context, topics);
    const { revision } = chain.forkChoice;
    const methodThread = evm && ethMethodThread(evm, calls.evm);
    const services = { methods, routes, metrics, feed, revision, methodThread };
    const servers = await startServers(services, options, this.#logger, thread);
    this.own(servers);
    void servers.failed.then((error) => this.#serversFailed.resolve(error));
    return servers;
  }

  /** Loads the metrics library lazily. */
  async #createMetrics(lanes: Lanes): Promise<Metrics> {
    const { Metrics } = await import("../metrics/metrics.ts");
    const { chain, db, networking, eth1, monitor } = this;
    const { engine } = this.source;
    const { network, events } = this.api.context;
    const metrics = new Metrics({ chain, engine, db, network, networking, eth1, monitor, events, lanes });
    this.own(metrics);
    return metrics;
  }

  /** Waits for work on the stored chain. Throws a `StartError` if the chain is unusable. */
  async untilReady(work: Promise<void> | undefined): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw asStartError(this.#dataDir, error) ?? error;
    }
  }

  /** Closes `part` when the node closes, before the node's own parts. */
  own(part: { close(): void | Promise<void> }): void {
    this.#opened.defer(async () => part.close());
  }

  /**
   * Calls back on an unrecoverable failure of the database, the chain, the engine or the servers. The caller must close
   * the node.
   */
  onFailure(callback: (failure: unknown) => void): void {
    void this.db.failed.then((error) => {
      this.#logger.error("Database write failed, shutting down", { error });
      callback(asStartError(this.#dataDir, error));
    });
    void this.chain.failed.then((error) => {
      this.#logger.error("Unrecoverable chain error, shutting down", { error });
      callback(asStartError(this.#dataDir, error) ?? error);
    });
    void this.source.engine.failed?.then((error) => {
      this.#logger.error("Execution engine failed, shutting down", { error });
      callback(asStartError(this.#dataDir, error) ?? error);
    });
    void this.#serversFailed.promise.then((error) => {
      this.#logger.error("Servers failed, shutting down", { error });
      callback(error);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Stops the clock and the execution engine, which ends all pending waits. */
  async halt(): Promise<void> {
    this.source.engine.close?.();
    await this.source.stopClock?.();
  }

  async #close(): Promise<void> {
    await this.halt();
    try {
      await this.#opened[Symbol.asyncDispose]();
    } catch (error) {
      // A failed write is the root cause of later errors.
      throw asStartError(this.#dataDir, this.db.failure) ?? error;
    }
  }
}

/** Restores the announced custody group count, which never decreases (fulu/validator.md, Validator custody). */
async function custodyOptions(
  node: LocalNode,
  { NUMBER_OF_CUSTODY_GROUPS }: BeaconConfig,
  { supernode }: NetworkSettings,
): Promise<CustodyOptions> {
  const groupCount = supernode ? NUMBER_OF_CUSTODY_GROUPS : node.metadata.custodyGroupCount;
  return { nodeId: await node.nodeId(), groupCount };
}

/** Opens the client of the builder. Loads it lazily. */
async function connectBuilder(
  { builder: settings, logger, chainTuning }: BeaconNodeOptions<ChainSource>,
  config: BeaconConfig,
): Promise<HttpBuilder | undefined> {
  if (settings === undefined) return undefined;
  const { openBuilder } = await import("./execution/open-builder.ts");
  return openBuilder(settings, config, logger, chainTuning?.builderTimers);
}

/** Loads the validator monitor lazily. */
async function openMonitor(
  chain: BeaconChain,
  { monitorValidators: selection, logger }: SharedOptions,
  condition: Pick<NodeHealth, "isWarmedUp">,
): Promise<ValidatorMonitor | undefined> {
  if (selection === undefined) return undefined;
  const { ValidatorMonitor } = await import("../chain/monitor/validator-monitor.ts");
  const isWarmedUp = () => condition.isWarmedUp;
  return new ValidatorMonitor({ chain, selection, isWarmedUp, logger: logger.topic("validators") });
}

/** Opens the network. Loads its libraries lazily. */
async function openNetwork(
  chain: BeaconChain,
  db: BeaconDb,
  node: LocalNode,
  { authority, suspensions }: ChainSource,
  { networking: settings, networkTuning, sync, logger }: BeaconNodeOptions<ChainSource>,
): Promise<{ view: NetworkView; networking: Networking | undefined }> {
  if (settings === undefined) {
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
    settings,
    sync,
    authority,
    suspensions,
    logger,
  });
  return { view: networking.view, networking };
}
