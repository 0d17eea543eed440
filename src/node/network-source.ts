import { type BeaconConfig, type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase, latestBlockHeader } from "../chain/anchor.ts";
import { WallClock } from "../chain/clock/wall-clock.ts";
import type { ReadGenesisState } from "../chain/distant-genesis.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { hasBuiltInEngine } from "../dev/chain-config.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import { type ExecutionEngine, NoExecutionEngine } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import { type CheckpointSource, readAnchorBlock } from "./anchor-block.ts";
import { type LoadedState, loadState } from "./anchor-state.ts";
import type { ChainSource } from "./beacon-node.ts";
import {
  isCommittedByBlock,
  pinnedStateSource,
  requirePinned,
  requirePinnedChain,
  uncommitted,
} from "./checkpoint-pin.ts";
import { warnOfJumps, watchSuspensions } from "./clock-jump.ts";
import { heldByDirectory } from "./data-directory.ts";
import { connectExecutionClients, type ExecutionClientOptions } from "./execution-client.ts";
import { loadNetworkConfig, type NamedNetwork } from "./network-config.ts";
import { bundledGenesis, type GenesisIdentity, genesisDifference, knownGenesis } from "./network-genesis.ts";
import { identityInNetwork, keepSchedule, type NodeIdentity, requireSameNetwork } from "./node-identity.ts";
import { StartError } from "./start-error.ts";
import { warnOfSyncingProvider } from "./syncing-provider.ts";

export interface NetworkSourceOptions {
  dataDir: string;
  network: NamedNetwork;
  /** An absolute path or an http(s) URL. */
  genesisState?: string;
  /** Left out by a node that starts from genesis. */
  checkpoint?: CheckpointSource;
  /** Left out by a node that takes payloads on trust. */
  execution?: ExecutionClientOptions;
  logger: Logger;
  /** Ends the search for the chain, and what execution clients are asked. */
  signal?: AbortSignal;
}

export interface NetworkSource extends ChainSource {
  readonly clock: WallClock;
}

interface FoundChain {
  identity: NodeIdentity;
  config: BeaconConfig;
  /** Of a chain that was not there before. */
  firstState?: BeaconStateAllForks;
}

/** The chain of a network, which goes by the time of day. */
export async function openNetworkSource(db: BeaconDb, options: NetworkSourceOptions): Promise<NetworkSource> {
  const { logger } = options;
  const { identity, config, firstState } = await findChain(db, options);
  const { genesisTime } = identity;
  const engine = await openEngine(config, options);
  const suspensions = watchSuspensions(logger);
  const clock = new WallClock({
    genesisTime,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
    onJump: warnOfJumps(logger),
    suspensions,
  });
  if (clock.nowSeconds() < genesisTime) {
    logger.notice("The chain has not begun yet", { genesis: new Date(genesisTime * 1000).toISOString() });
  }
  await warnOfClockBehind(db, clock, logger);
  return {
    config,
    clock,
    suspensions,
    engine,
    readGenesisState: genesisReader(config, identity, options),
    takeFirstState: once(firstState),
    stopClock: () => clock.close(),
  };
}

/** By such a clock nothing is taken in until it comes to where the chain was. */
async function warnOfClockBehind(db: BeaconDb, { currentSlot }: WallClock, logger: Logger): Promise<void> {
  const newest = (await db.hotBlocks.last()) ?? (await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY));
  if (!newest || newest.slot <= currentSlot) return;
  logger.warn("The time of day is before that of the newest stored block; look at what sets the machine's clock", {
    slot: newest.slot,
    wallSlot: currentSlot,
  });
}

async function openEngine(
  config: BeaconConfig,
  { execution, logger, signal }: NetworkSourceOptions,
): Promise<ExecutionEngine> {
  if (hasBuiltInEngine(config)) {
    if (execution) {
      logger.warn("--el is not used: only the built-in dev execution engine can judge the payloads of this dev chain");
    }
    return new DevExecutionEngine();
  }
  if (execution) return connectExecutionClients(execution, config, logger, signal);
  if (Number.isFinite(config.BELLATRIX_FORK_EPOCH)) {
    logger.warn("There is no execution engine: execution payloads are taken on trust, and no block can be proposed");
  }
  return new NoExecutionEngine();
}

/** What a node that starts from a later state can tell of genesis comes from there. */
function genesisReader(
  config: BeaconConfig,
  identity: NodeIdentity,
  { network, genesisState, logger }: NetworkSourceOptions,
): ReadGenesisState | undefined {
  const source = genesisState ?? bundledGenesis(network);
  if (source === undefined) return undefined;
  return async () => {
    try {
      const { state } = await loadState(source, config, { logger });
      const difference = genesisDifference(identityOf(state), identity);
      if (difference !== undefined) throw new Error(`It is not of the chain of this node: ${difference}.`);
      if (state.slot !== GENESIS_SLOT) throw notGenesis(source, state);
      return state;
    } catch (error) {
      logger.warn("The genesis state cannot be used, so this node has no answers about it", { error });
      return null;
    }
  };
}

/** Finds the network's chain in the database, or puts its first state there. */
async function findChain(db: BeaconDb, options: NetworkSourceOptions): Promise<FoundChain> {
  const chainConfig = loadNetworkConfig(options.network);
  const stored = await db.meta.getIdentity();
  if (stored === null) return initialise(db, chainConfig, options);
  const identity = stored as NodeIdentity;
  await requireSameNetwork(identity, chainConfig, options.network, heldByDirectory(options.dataDir, db));
  if (options.checkpoint?.pin) await requirePinnedChain(db, options.checkpoint.pin, options.dataDir);
  await keepSchedule(db, identity, chainConfig);
  if (options.genesisState ?? options.checkpoint) {
    options.logger.info("The data directory holds a chain already, so the node does not start from the given state");
  }
  return { identity, config: createBeaconConfig(chainConfig, fromHex(identity.genesisValidatorsRoot)) };
}

async function initialise(db: BeaconDb, chainConfig: ChainConfig, options: NetworkSourceOptions): Promise<FoundChain> {
  const { network, checkpoint, logger, signal } = options;
  const { source, ...loaded } = await loadFirstState(chainConfig, options);
  const { state, bytes, config } = loaded;
  if (checkpoint === undefined && state.slot !== GENESIS_SLOT) {
    throw notGenesis(source, state);
  }
  const block = checkpoint && (await readAnchorBlock(checkpoint, loaded, { logger, signal }));
  if (checkpoint?.api !== undefined) await warnOfSyncingProvider(checkpoint.api, state.slot, { logger, signal });
  const identity = identityInNetwork(config, network, identityOf(state));
  await initialiseDatabase(db, config, { state, bytes, block }, identity);
  logger.info("Starting the chain from a given state", {
    slot: state.slot,
    root: toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state))),
    fork: config.getForkName(state.slot),
    source,
    pinned: checkpoint?.pin !== undefined,
  });
  return { identity, config, firstState: state };
}

/** Loads the state that a new chain starts from. It is of the network, and proven by the pinned block where there is one. */
async function loadFirstState(
  chainConfig: ChainConfig,
  options: NetworkSourceOptions,
): Promise<LoadedState & { source: string }> {
  const { checkpoint, network, logger, signal } = options;
  const load = async (source: string) => {
    const loaded = await loadState(source, createChainForkConfig(chainConfig), { logger, signal });
    requireStateOfNetwork(loaded, source, network);
    return { ...loaded, source };
  };
  const pin = checkpoint?.pin;
  if (!pin) return load(stateSource(options));
  const loaded = await load(pinnedStateSource(checkpoint.state, pin));
  const { state, source } = loaded;
  requirePinned(state, pin, source);
  if (isCommittedByBlock(state)) return loaded;
  if (checkpoint.api === undefined) throw uncommitted(source);
  const { stateRoot } = state.latestBlockHeader;
  const ofBlock = await load(new URL(`eth/v2/debug/beacon/states/${toRootHex(stateRoot)}`, checkpoint.api).href);
  requirePinned(ofBlock.state, { ...pin, epoch: undefined }, ofBlock.source);
  if (!isCommittedByBlock(ofBlock.state)) throw uncommitted(ofBlock.source);
  return ofBlock;
}

/** Gives something once and holds it no longer. */
function once<T>(value: T | undefined): () => T | undefined {
  let held = value;
  return () => {
    const given = held;
    held = undefined;
    return given;
  };
}

/** A checkpoint state is preferred: from it, less has to be synced. */
function stateSource({ checkpoint, genesisState, network }: NetworkSourceOptions): string {
  const source = checkpoint?.state ?? genesisState ?? bundledGenesis(network);
  if (source !== undefined) return source;
  throw new StartError("noState", `A new node of ${network.name} needs a state to start from.`);
}

function requireStateOfNetwork({ state }: LoadedState, source: string, network: NamedNetwork): void {
  const known = knownGenesis(network);
  const difference = known && genesisDifference(identityOf(state), known);
  if (difference === undefined) return;
  throw new StartError("unreadableInput", `The state ${source} is not of the network ${network.name}: ${difference}.`);
}

function identityOf({ genesisTime, genesisValidatorsRoot }: LoadedState["state"]): GenesisIdentity {
  return { genesisTime, genesisValidatorsRoot: toRootHex(genesisValidatorsRoot) };
}

function notGenesis(source: string, { slot }: LoadedState["state"]): StartError {
  return new StartError("notGenesisState", `The state ${source} is not a genesis state: it is of slot ${slot}.`);
}
