import { join } from "node:path";
import { useNativeHasher } from "../../chain/native-hasher.ts";
import { FutureTracker } from "../../debug/future-tracker.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import { DevNode } from "../../node/dev-node.ts";
import type { DevOptions } from "../flags/options.ts";
import type { RunningNode } from "../run.ts";
import { running } from "./running.ts";
import { announceServers, serverOptions } from "./serving.ts";
import { requireUsablePeers } from "./usable-peers.ts";

/** `fanal dev`: a beacon chain of its own, in this process. */
export async function runDev(options: DevOptions, logger: Logger, { setSpec }: LogControl): Promise<RunningNode> {
  useNativeHasher();
  const futures = options.trackFutures ? FutureTracker.started() : undefined;
  if (options.networking) await requireUsablePeers(options.networking);
  const node = await DevNode.open({
    ...options,
    networkDirectory: join(options.dataDir, "network"),
    servers: serverOptions(options),
    logger,
    setLogSpec: setSpec,
    futures,
  });
  announceServers(node.servers, logger);
  const explainJoining = (networkDirectory: string) =>
    logger.notice(`Another node joins with: fanal node --network ${networkDirectory} --data-dir DIR --p2p-port 0`);
  return running(node, node.start(explainJoining));
}
