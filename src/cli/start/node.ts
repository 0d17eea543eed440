import { createPubkeyCache } from "@lodestar/state-transition";
import { createApi } from "../../api/api.ts";
import { BeaconChain } from "../../chain/chain.ts";
import { WallClock } from "../../chain/clock/wall-clock.ts";
import { useNativeHasher } from "../../chain/native-hasher.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { FutureTracker } from "../../debug/future-tracker.ts";
import { NoExecutionEngine } from "../../execution/no-engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { LocalNode } from "../../network/local-node.ts";
import { noNetwork } from "../../network/network-view.ts";
import { openNodeKey } from "../../network/node-key.ts";
import type { NodeOptions } from "../flags/options.ts";
import type { RunningNode } from "../run.ts";
import { openDataDirectory } from "./data-directory.ts";
import { openDoors } from "./doors.ts";
import { openNetwork } from "./open-network.ts";

/** `fanal node`: a node of a given network. */
export async function runNode(options: NodeOptions, logger: Logger, { setSpec }: LogControl): Promise<RunningNode> {
  useNativeHasher();
  const futures = options.trackFutures ? FutureTracker.started() : undefined;
  const db = await openDataDirectory(options.dataDir, { sync: true });
  let chain: BeaconChain | undefined;
  let clock: WallClock | undefined;
  try {
    const { identity, config } = await openNetwork(db, options, logger);
    clock = new WallClock({
      genesisTime: identity.genesisTime,
      secondsPerSlot: config.SECONDS_PER_SLOT,
      onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
    });
    chain = await BeaconChain.open({
      config,
      db,
      clock,
      engine: new NoExecutionEngine(),
      pubkeyCache: createPubkeyCache(),
      logger,
      graffiti: options.graffiti,
      syncHorizonSlots: options.syncHorizon,
    });
    const network = noNetwork(new LocalNode({ key: await openNodeKey(db), config, clock }));
    const doors = await openDoors(createApi({ chain, network, setLogSpec: setSpec, futures }), options, logger);
    chain.start();
    clock.start();
    return live(chain, clock, db, doors);
  } catch (error) {
    clock?.close();
    await chain?.close();
    await db.close();
    throw error;
  }
}

function live(chain: BeaconChain, clock: WallClock, db: BeaconDb, doors: { close(): Promise<void> }): RunningNode {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  return {
    stopped,
    async stop() {
      clock.close();
      await doors.close();
      await chain.close();
      await db.close();
      resolve();
    },
  };
}
