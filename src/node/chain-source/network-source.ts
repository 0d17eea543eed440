import { type BeaconConfig, type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase, latestBlockHeader } from "../../chain/anchor/anchor.ts";
import type { ReadGenesisState } from "../../chain/anchor/genesis-loader.ts";
import { WallClock } from "../../chain/clock/wall-clock.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { hasBuiltInEngine, isDevConfig } from "../../dev/chain-config.ts";
import { openEvmChain } from "../../dev/evm/open-evm.ts";
import { EvmThread } from "../../evm/thread/evm-thread.ts";
import { DevExecutionEngine } from "../../execution/dev-engine.ts";
import { type ExecutionEngine, NoExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainSource } from "../beacon-node.ts";
import { type CheckpointSource, loadAnchorBlock } from "../checkpoint/anchor-block.ts";
import { type LoadedState, loadState } from "../checkpoint/anchor-state.ts";
import {
  isPostBlockState,
  pinnedStateUrl,
  unprovenState,
  verifyPin,
  verifyPinnedChain,
} from "../checkpoint/checkpoint-pin.ts";
import { warnIfProviderSyncing } from "../checkpoint/checkpoint-provider.ts";
import { warnOnClockJump, watchSuspensions } from "../clock-warnings.ts";
import { sharedReadThread } from "../eth-reads/shared-read-thread.ts";
import { connectExecutionClients } from "../execution/execution-client.ts";
import type { NodeSettings } from "../settings.ts";
import { StartError } from "../start-error.ts";
import { dataDirLocation } from "../storage/data-directory.ts";
import type { GenesisIdentity } from "./genesis-file.ts";
import { loadNetworkConfig, type NamedNetwork } from "./network-config.ts";
import { genesisDifference, genesisStateFile, knownGenesis } from "./network-genesis.ts";
import { createNodeIdentity, type NodeIdentity, requireSameNetwork, storeForkSchedule } from "./node-identity.ts";

/** Chain settings for a network. */
export interface NetworkSourceSettings {
  network: NamedNetwork;
  /** An absolute path or an http(s) URL. */
  genesisState: string | undefined;
  /** Undefined to start from genesis. */
  checkpoint: CheckpointSource | undefined;
}

interface NetworkSourceOptions extends NetworkSourceSettings, Pick<NodeSettings, "dataDir" | "execution"> {
  logger: Logger;
  /** Cancels opening the chain and calls to execution clients. */
  signal?: AbortSignal;
}

export interface NetworkSource extends ChainSource {
  readonly clock: WallClock;
  /** Omitted if there is no EVM. */
  readonly evm?: EvmThread;
}

interface OpenedChain {
  identity: NodeIdentity;
  config: BeaconConfig;
  /** Set for a new chain. */
  anchorState?: BeaconStateAllForks;
}

/** Opens a network's chain, which follows the wall clock. */
export async function openNetworkSource(db: BeaconDb, options: NetworkSourceOptions): Promise<NetworkSource> {
  const { logger } = options;
  const { identity, config, anchorState } = await openChain(db, options);
  const { genesisTime } = identity;
  const evm = await openEvm(db, config, options);
  const engine = evm ?? (await openEngine(config, options));
  const suspensions = watchSuspensions(logger);
  const clock = new WallClock({
    genesisTime,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    onListenerError: (error, slot) => logger.error("Slot processing failed", { slot, error }),
    onJump: warnOnClockJump(logger),
    suspensions,
  });
  if (clock.nowSeconds() < genesisTime) {
    logger.notice("Waiting for genesis", { genesis: new Date(genesisTime * 1000).toISOString() });
  }
  await warnIfClockBehind(db, clock, logger);
  return {
    config,
    clock,
    suspensions,
    engine,
    ...(evm && { evm, close: () => evm.stop() }),
    readGenesisState: genesisReader(config, identity, options),
    takeAnchorState: takeOnce(anchorState),
    stopClock: () => clock.close(),
  };
}

/** Warns if the clock is behind the stored chain: the node imports nothing until the clock catches up. */
async function warnIfClockBehind(db: BeaconDb, { currentSlot }: WallClock, logger: Logger): Promise<void> {
  const newest = (await db.hotBlocks.last()) ?? (await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY));
  if (!newest || newest.slot <= currentSlot) return;
  logger.warn("System clock is behind the newest stored block", {
    slot: newest.slot,
    wallSlot: currentSlot,
  });
}

/** Returns undefined if the chain has no EVM, or if blocks since genesis, which the EVM must execute, are missing. */
async function openEvm(
  db: BeaconDb,
  config: BeaconConfig,
  { execution, logger }: NetworkSourceOptions,
): Promise<EvmThread | undefined> {
  if (!isDevConfig(config) || hasBuiltInEngine(config)) return undefined;
  const evm = new EvmThread({ logger, reads: sharedReadThread() });
  if (!(await openEvmChain(evm, config))) {
    await evm.stop();
    return undefined;
  }
  if ((await db.finalizedBlocks.get(GENESIS_SLOT)) === null) {
    await evm.stop();
    logger.warn("No EVM after a start from a checkpoint, it needs all blocks since genesis");
    return undefined;
  }
  if (execution) logger.warn("Ignoring --el, this dev chain is executed by the EVM of its nodes");
  return evm;
}

async function openEngine(
  config: BeaconConfig,
  { execution, logger, signal }: NetworkSourceOptions,
): Promise<ExecutionEngine> {
  if (hasBuiltInEngine(config)) {
    if (execution) {
      logger.warn("Ignoring --el, this dev chain uses the built-in execution engine");
    }
    return new DevExecutionEngine();
  }
  if (execution) return connectExecutionClients(execution, config, logger, signal);
  if (Number.isFinite(config.BELLATRIX_FORK_EPOCH)) {
    logger.warn("No execution client, payloads are not verified and blocks cannot be proposed");
  }
  return new NoExecutionEngine();
}

/** Returns a lazy loader of the genesis state, for nodes that started from a checkpoint. */
function genesisReader(
  config: BeaconConfig,
  identity: NodeIdentity,
  { network, genesisState, logger }: NetworkSourceOptions,
): ReadGenesisState | undefined {
  const source = genesisState ?? genesisStateFile(network);
  if (source === undefined) return undefined;
  return async () => {
    try {
      const { state } = await loadState(source, config, { logger });
      const difference = genesisDifference(identityOf(state), identity);
      if (difference !== undefined) throw new Error(`It belongs to another chain: ${difference}.`);
      if (state.slot !== GENESIS_SLOT) throw notGenesis(source, state);
      return state;
    } catch (error) {
      logger.warn("Genesis state unusable, requests for it will fail", { error });
      return null;
    }
  };
}

/** Opens the stored chain, or initializes the database. */
async function openChain(db: BeaconDb, options: NetworkSourceOptions): Promise<OpenedChain> {
  const chainConfig = loadNetworkConfig(options.network);
  const stored = await db.meta.getIdentity();
  if (stored === null) return initialise(db, chainConfig, options);
  const identity = stored as NodeIdentity;
  await requireSameNetwork(identity, chainConfig, options.network, dataDirLocation(options.dataDir, db));
  if (options.checkpoint?.pin) await verifyPinnedChain(db, options.checkpoint.pin, options.dataDir);
  await storeForkSchedule(db, identity, chainConfig);
  if (options.genesisState ?? options.checkpoint) {
    options.logger.info("Data directory already has a chain, ignoring the given state");
  }
  return { identity, config: createBeaconConfig(chainConfig, fromHex(identity.genesisValidatorsRoot)) };
}

async function initialise(db: BeaconDb, chainConfig: ChainConfig, options: NetworkSourceOptions): Promise<OpenedChain> {
  const { network, checkpoint, logger, signal } = options;
  const { source, ...loaded } = await loadAnchorState(chainConfig, options);
  const { state, bytes, config } = loaded;
  if (checkpoint === undefined && state.slot !== GENESIS_SLOT) {
    throw notGenesis(source, state);
  }
  const block = checkpoint && (await loadAnchorBlock(checkpoint, loaded, { logger, signal }));
  if (checkpoint?.api !== undefined) await warnIfProviderSyncing(checkpoint.api, state.slot, { logger, signal });
  const identity = createNodeIdentity(config, network, identityOf(state));
  await initialiseDatabase(db, config, { state, bytes, block }, identity);
  logger.info("Starting from state", {
    slot: state.slot,
    root: toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state))),
    fork: config.getForkName(state.slot),
    source,
    pinned: checkpoint?.pin !== undefined,
  });
  return { identity, config, anchorState: state };
}

/**
 * Loads the anchor state of a new chain. Verifies that it belongs to the network and, if there is a pin, that the pin
 * commits to it.
 */
async function loadAnchorState(
  chainConfig: ChainConfig,
  options: NetworkSourceOptions,
): Promise<LoadedState & { source: string }> {
  const { checkpoint, network, logger, signal } = options;
  const load = async (source: string) => {
    const loaded = await loadState(source, createChainForkConfig(chainConfig), { logger, signal });
    requireNetworkState(loaded, source, network);
    return { ...loaded, source };
  };
  const pin = checkpoint?.pin;
  if (!pin) return load(stateSource(options));
  const loaded = await load(pinnedStateUrl(checkpoint.state, pin));
  const { state, source } = loaded;
  verifyPin(state, pin, source);
  if (isPostBlockState(state)) return loaded;
  if (checkpoint.api === undefined) throw unprovenState(source);
  const { stateRoot } = state.latestBlockHeader;
  const postBlock = await load(new URL(`eth/v2/debug/beacon/states/${toRootHex(stateRoot)}`, checkpoint.api).href);
  verifyPin(postBlock.state, { ...pin, epoch: undefined }, postBlock.source);
  if (!isPostBlockState(postBlock.state)) throw unprovenState(postBlock.source);
  return postBlock;
}

/** Returns a function that returns the value on the first call only, and then releases it. */
function takeOnce<T>(value: T | undefined): () => T | undefined {
  let remaining = value;
  return () => {
    const released = remaining;
    remaining = undefined;
    return released;
  };
}

/** Prefers a checkpoint state, since syncing from it is faster. */
function stateSource({ checkpoint, genesisState, network }: NetworkSourceOptions): string {
  const source = checkpoint?.state ?? genesisState ?? genesisStateFile(network);
  if (source !== undefined) return source;
  throw new StartError("noState", `A new node of network "${network.name}" needs a state to start from.`);
}

function requireNetworkState({ state }: LoadedState, source: string, network: NamedNetwork): void {
  const expectedGenesis = knownGenesis(network);
  const difference = expectedGenesis && genesisDifference(identityOf(state), expectedGenesis);
  if (difference === undefined) return;
  throw new StartError(
    "unreadableInput",
    `The state ${source} does not belong to network "${network.name}": ${difference}.`,
  );
}

function identityOf({ genesisTime, genesisValidatorsRoot }: LoadedState["state"]): GenesisIdentity {
  return { genesisTime, genesisValidatorsRoot: toRootHex(genesisValidatorsRoot) };
}

function notGenesis(source: string, { slot }: LoadedState["state"]): StartError {
  return new StartError("notGenesisState", `The state ${source} is not a genesis state: its slot is ${slot}.`);
}
