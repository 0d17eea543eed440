import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BeaconConfig, type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { genesisData } from "@lodestar/config/networks";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase } from "../chain/anchor.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Logger } from "../log/logger.ts";
import { fetchAnchorBlock } from "./anchor-block.ts";
import { StartupError, usageError } from "./exit.ts";
import { loadNetworkConfig } from "./network-config.ts";
import type { NodeOptions } from "./options.ts";
import type { Network } from "./preset.ts";
import { type LoadedState, loadState } from "./state-source.ts";

/** What the data directory of a node is recognised by. */
export interface NodeIdentity {
  kind: "node";
  network: string;
  genesisTime: number;
  genesisValidatorsRoot: string;
  genesisForkVersion: string;
}

export interface OpenedNetwork {
  identity: NodeIdentity;
  config: BeaconConfig;
}

/** Finds the network's chain in the database, or puts its first state there. */
export async function openNetwork(db: BeaconDb, options: NodeOptions, logger: Logger): Promise<OpenedNetwork> {
  const chainConfig = loadNetworkConfig(options.network);
  const stored = await db.meta.getIdentity();
  if (stored === null) return initialise(db, chainConfig, options, logger);
  const identity = requireSameNetwork(stored as NodeIdentity, chainConfig, options);
  if (options.genesisState ?? options.checkpointState) {
    logger.info("The data directory holds a chain already, so the given state is not used");
  }
  return { identity, config: createBeaconConfig(chainConfig, fromHex(identity.genesisValidatorsRoot)) };
}

function requireSameNetwork(
  stored: NodeIdentity,
  { GENESIS_FORK_VERSION }: ChainConfig,
  { dataDir, network }: NodeOptions,
): NodeIdentity {
  if (stored.kind === "node" && stored.genesisForkVersion === toHex(GENESIS_FORK_VERSION)) return stored;
  const held = stored.kind === "node" ? `the chain of the network ${stored.network}` : "a dev chain";
  throw new StartupError(
    "dataDirMismatch",
    `The data directory ${dataDir} holds ${held}, not that of ${network.name}; give another --data-dir.`,
  );
}

async function initialise(
  db: BeaconDb,
  chainConfig: ChainConfig,
  options: NodeOptions,
  logger: Logger,
): Promise<OpenedNetwork> {
  const source = stateSource(options);
  const loaded = await loadState(source, createChainForkConfig(chainConfig));
  requireStateOfNetwork(loaded, source, options.network);
  const { state, config } = loaded;
  const block = source === options.checkpointState ? await fetchAnchorBlock(source, loaded, logger) : undefined;
  const identity: NodeIdentity = {
    kind: "node",
    network: options.network.name,
    genesisTime: state.genesisTime,
    genesisValidatorsRoot: toRootHex(state.genesisValidatorsRoot),
    genesisForkVersion: toHex(config.GENESIS_FORK_VERSION),
  };
  await initialiseDatabase(db, config, { state, block }, identity);
  logger.info("The chain starts from a given state", { slot: state.slot, fork: config.getForkName(state.slot) });
  return { identity, config };
}

/** A checkpoint state is preferred: from it, less has to be synced. */
function stateSource({ checkpointState, genesisState, network }: NodeOptions): string {
  const given = checkpointState ?? genesisState;
  if (given !== undefined) return given;
  const bundled = network.directory === undefined ? undefined : join(network.directory, "genesis.ssz");
  if (bundled !== undefined && existsSync(bundled)) return bundled;
  throw usageError(
    `A new node of ${network.name} needs a state to start from: give --checkpoint-state or --genesis-state, ` +
      "each a file or a URL.",
  );
}

function requireStateOfNetwork({ state }: LoadedState, source: string, { name, directory }: Network): void {
  const known = directory === undefined ? genesisData[name as keyof typeof genesisData] : undefined;
  const root = toRootHex(state.genesisValidatorsRoot);
  if (known === undefined || known.genesisValidatorsRoot === root) return;
  throw new StartupError(
    "unreadableInput",
    `The state ${source} is of another network: its genesis validators root is ${root}, that of ${name} is ` +
      `${known.genesisValidatorsRoot}.`,
  );
}
