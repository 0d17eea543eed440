import { type BeaconConfig, type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { initialiseDatabase } from "../../chain/anchor.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import { StartupError, usageError } from "../exit.ts";
import type { NodeOptions } from "../flags/options.ts";
import type { Network } from "../flags/preset.ts";
import { readAnchorBlock } from "./anchor-block.ts";
import { loadNetworkConfig } from "./network-config.ts";
import { bundledGenesis, type GenesisIdentity, genesisDifference, knownGenesis } from "./network-genesis.ts";
import { type LoadedState, loadState } from "./state-source.ts";

/** What the data directory of a node is recognised by. */
export interface NodeIdentity extends GenesisIdentity {
  kind: "node";
  network: string;
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
  if (options.genesisState ?? options.checkpoint) {
    logger.info("The data directory holds a chain already, so the given state is not used");
  }
  return { identity, config: createBeaconConfig(chainConfig, fromHex(identity.genesisValidatorsRoot)) };
}

function requireSameNetwork(
  stored: NodeIdentity,
  { GENESIS_FORK_VERSION }: ChainConfig,
  { dataDir, network }: NodeOptions,
): NodeIdentity {
  const mismatch = (held: string) =>
    new StartupError(
      "dataDirMismatch",
      `The data directory ${dataDir} holds ${held}, not the chain of the network ${network.name}; give another --data-dir.`,
    );
  if (stored.kind !== "node") throw mismatch("a dev chain");
  if (stored.genesisForkVersion !== toHex(GENESIS_FORK_VERSION)) {
    throw mismatch(`the chain of the network ${stored.network}`);
  }
  const known = knownGenesis(network);
  const difference = known && genesisDifference(stored, known);
  if (difference !== undefined) throw mismatch(`another chain (${difference})`);
  return stored;
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
  if (options.checkpoint === undefined && state.slot !== GENESIS_SLOT) {
    throw new StartupError(
      "unreadableInput",
      `The state ${source} is not a genesis state: it is of slot ${state.slot}; --checkpoint-state starts from a later state.`,
    );
  }
  const block = options.checkpoint && (await readAnchorBlock(options.checkpoint, loaded, logger));
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
function stateSource({ checkpoint, genesisState, network }: NodeOptions): string {
  const given = checkpoint?.state ?? genesisState;
  if (given !== undefined) return given;
  const bundled = bundledGenesis(network);
  if (bundled !== undefined) return bundled;
  throw usageError(
    `A new node of ${network.name} needs a state to start from: give --checkpoint-sync-url, or a file or a URL with ` +
      "--checkpoint-state or --genesis-state.",
  );
}

function requireStateOfNetwork({ state }: LoadedState, source: string, network: Network): void {
  const known = knownGenesis(network);
  const found = { genesisTime: state.genesisTime, genesisValidatorsRoot: toRootHex(state.genesisValidatorsRoot) };
  const difference = known && genesisDifference(found, known);
  if (difference === undefined) return;
  throw new StartupError(
    "unreadableInput",
    `The state ${source} is not of the network ${network.name}: ${difference}.`,
  );
}
