import { join } from "node:path";
import { useNativeHasher } from "../../chain/states/native-hasher.ts";
import { PromiseTracker } from "../../debug/promise-tracker.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import type { NetworkingOptions } from "../../network/networking-options.ts";
import { DevNode } from "../../node/dev-node.ts";
import { Notifier } from "../../node/notifier.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { isLoopbackAddress } from "../../server/http/access/loopback.ts";
import type { DevOptions } from "../flags/options.ts";
import type { RunningNode } from "../run.ts";
import { announceEarlyCompounding, announceKeys, announceStart, forkTexts } from "./banner.ts";
import { clockOffsetNotice } from "./clock-offset.ts";
import { running } from "./running-node.ts";
import { announceServers, serverOptions } from "./servers.ts";
import { verifyPeers } from "./verify-peers.ts";

/** Runs `fanal dev`: a dev chain in this process. */
export async function runDev(
  options: DevOptions,
  logger: Logger,
  { setSpec }: LogControl,
  signal?: AbortSignal,
): Promise<RunningNode> {
  announceStart(
    {
      preset: options.preset,
      forks: forkTexts(options.forks),
      validators: options.validators,
      slotSeconds: options.slotSeconds,
      speed: options.speed,
    },
    options,
    logger,
  );
  useNativeHasher(logger);
  const servers = await limitConnections(
    { servers: serverOptions(options, logger), networking: options.networking },
    logger,
  );
  const futures = options.trackFutures ? PromiseTracker.started() : undefined;
  if (options.networking) await verifyPeers(options.networking);
  const node = await DevNode.open({
    ...options,
    networkDirectory: join(options.dataDir, "network"),
    servers,
    logger,
    setLogSpec: setSpec,
    futures,
    signal,
  });
  announceKeys(node.devChain, options.keys, logger);
  if (node.devChain.isNew) announceEarlyCompounding(options, logger);
  announceServers(node.servers, options, logger);
  const { chain, networking } = node.node;
  const watch = new Notifier({
    chain,
    connectedPeers: networking && (() => networking.view.peerCounts().connected),
    needsPeers: false,
    isWarmingUp: () => !node.devChain.isLive,
    logger,
  });
  node.node.own(watch);
  const starting = node.start({
    onJoinable: (networkDirectory) =>
      logger.notice(`Another node joins with: ${joinCommand(networkDirectory, options.networking)}`),
    onTimeDifference: (difference) => logger.notice(clockOffsetNotice(difference)),
  });
  return running(node, starting);
}

/** Returns the command that joins the chain. A node that joins a chain on loopback listens on loopback too. */
export function joinCommand(
  networkDirectory: string,
  networking: Pick<NetworkingOptions, "address"> | undefined,
): string {
  const command = `fanal node --network ${networkDirectory} --data-dir DIR --p2p-port 0`;
  return networking && isLoopbackAddress(networking.address)
    ? `${command} --p2p-address ${networking.address}`
    : command;
}
