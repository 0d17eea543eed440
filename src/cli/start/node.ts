import type { ChainConfig } from "@lodestar/config";
import { createPubkeyCache } from "@lodestar/state-transition";
import { createApi } from "../../api/api.ts";
import { BeaconChain } from "../../chain/chain.ts";
import { WallClock } from "../../chain/clock/wall-clock.ts";
import { useNativeHasher } from "../../chain/native-hasher.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { FutureTracker } from "../../debug/future-tracker.ts";
import { DEV_CONFIG_NAME } from "../../dev/chain-config.ts";
import { DevExecutionEngine } from "../../execution/dev-engine.ts";
import { NoExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { openNetworkSide } from "../../sync/network-side.ts";
import { usageError } from "../exit.ts";
import type { NodeOptions } from "../flags/options.ts";
import type { RunningNode } from "../run.ts";
import { openDataDirectory } from "./data-directory.ts";
import { openDoors } from "./doors.ts";
import { requireUsablePeers } from "./known-peers.ts";
import { loadNetworkConfig } from "./network-config.ts";
import { startNodeValidators } from "./node-validators.ts";
import { openNetwork } from "./open-network.ts";
import { startNetworking, warnWithoutPeers } from "./start-networking.ts";

/** `fanal node`: a node of a given network. */
export async function runNode(options: NodeOptions, logger: Logger, { setSpec }: LogControl): Promise<RunningNode> {
  useNativeHasher();
  const futures = options.trackFutures ? FutureTracker.started() : undefined;
  requireValidatorsOfDevChain(options);
  if (options.networking) await requireUsablePeers(options.networking);
  const db = await openDataDirectory(options.dataDir, { sync: true });
  const opened: { close(): void | Promise<void> }[] = [db];
  const closeAll = async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  };
  try {
    const { chain, clock } = await openChain(db, options, logger);
    const { view, networking } = await openNetworkSide({ chain, db, options: options.networking, logger });
    opened.push(clock, chain);
    const { broadcast, sync } = networking ?? {};
    const api = createApi({ chain, network: view, broadcast, sync, setLogSpec: setSpec, futures });
    chain.start();
    clock.start();
    if (networking && options.networking) {
      opened.push(networking);
      await startNetworking(networking, options.networking, logger);
      warnWithoutPeers(options.networking, logger);
    }
    opened.push(await startNodeValidators(options.devValidators, { chain, api, db, sync, logger }));
    // The clock goes first, so that nobody waits for a time any more.
    opened.push(await openDoors(api, options, logger), clock);
  } catch (error) {
    await closeAll();
    throw error;
  }
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  return {
    stopped,
    async stop() {
      await closeAll();
      resolve();
    },
  };
}

async function openChain(
  db: BeaconDb,
  options: NodeOptions,
  logger: Logger,
): Promise<{ chain: BeaconChain; clock: WallClock }> {
  const { identity, config } = await openNetwork(db, options, logger);
  const clock = new WallClock({
    genesisTime: identity.genesisTime,
    secondsPerSlot: config.SECONDS_PER_SLOT,
    onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
  });
  if (clock.nowSeconds() < identity.genesisTime) {
    logger.notice("The chain has not begun yet", { genesis: new Date(identity.genesisTime * 1000).toISOString() });
  }
  // The payloads of a dev chain are made by this engine, and can be judged by it alone.
  const engine = isDevChain(config) ? new DevExecutionEngine() : new NoExecutionEngine();
  if (!engine.online && Number.isFinite(config.BELLATRIX_FORK_EPOCH)) {
    logger.warn("There is no execution engine: execution payloads are taken on trust, and no block can be proposed");
  }
  const chain = await BeaconChain.open({
    config,
    db,
    clock,
    engine,
    pubkeyCache: createPubkeyCache(),
    logger,
    graffiti: options.graffiti,
    syncHorizonSlots: syncHorizon(options),
  });
  return { chain, clock };
}

/** Whoever runs validators must be able to go on however long all nodes were stopped; they wait for the sync by themselves. */
function syncHorizon({ syncHorizon, devValidators, networking }: NodeOptions): number | undefined {
  const hasValidators = devValidators === "all" || devValidators.length > 0;
  return syncHorizon ?? (hasValidators && networking ? Number.POSITIVE_INFINITY : undefined);
}

const isDevChain = ({ CONFIG_NAME }: ChainConfig) => CONFIG_NAME === DEV_CONFIG_NAME;

/** The keys of a dev chain's validators are known to everybody; those of another network are not ours. */
function requireValidatorsOfDevChain({ devValidators, network }: NodeOptions): void {
  if (devValidators !== "all" && devValidators.length === 0) return;
  if (isDevChain(loadNetworkConfig(network))) return;
  throw usageError(
    `--dev-validators is for the network of a dev chain ("fanal dev" writes its directory), and ${network.name} is none.`,
  );
}
