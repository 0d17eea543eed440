import { join } from "node:path";
import { PromiseTracker } from "../../debug/promise-tracker.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import type { NetworkSettings } from "../../network/network-settings.ts";
import { DevNode } from "../../node/dev-node.ts";
import { Notifier } from "../../node/notifier.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { useNativeHasher } from "../../runtime/native-hasher.ts";
import { isLoopbackAddress } from "../../server/http/access/loopback.ts";
import type { DevCommandSettings } from "../flags/dev/dev-settings.ts";
import type { RunningNode } from "../run.ts";
import { announceAccounts, announceEarlyCompounding, announceKeys, announceStart, forkTexts } from "./banner.ts";
import { clockOffsetNotice } from "./clock-offset.ts";
import { devBanner } from "./dev-banner.ts";
import { running } from "./running-node.ts";
import { announceServers, serverOptions } from "./servers.ts";
import { verifyPeers } from "./verify-peers.ts";

/** Runs `fanal dev`: a dev chain in this process. */
export async function runDev(
  settings: DevCommandSettings,
  logger: Logger,
  { setSpec, print }: LogControl,
  signal?: AbortSignal,
): Promise<RunningNode> {
  announceStart(
    {
      preset: settings.preset,
      forks: forkTexts(settings.forks),
      validators: settings.validators,
      slotSeconds: settings.slotSeconds,
      speed: settings.speed,
    },
    settings,
    logger,
  );
  useNativeHasher(logger);
  const servers = await limitConnections(
    { servers: serverOptions(settings, logger, { allowsLocalPages: true }), networking: settings.networking },
    logger,
  );
  const futures = settings.trackFutures ? PromiseTracker.started() : undefined;
  if (settings.networking) await verifyPeers(settings.networking);
  const node = await DevNode.open({
    ...settings,
    networkDirectory: join(settings.dataDir, "network"),
    servers,
    logger,
    setLogSpec: setSpec,
    futures,
    signal,
  });
  if (!print(devBanner(settings, node))) {
    announceKeys(node.devChain, settings.keys, logger);
    announceAccounts(settings, logger);
    announceServers(node.servers, settings.servers, logger);
  }
  if (node.devChain.isNew) announceEarlyCompounding(settings, logger);
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
      logger.notice(`Another node joins with: ${joinCommand(networkDirectory, settings.networking)}`),
    onTimeDifference: (difference) => logger.notice(clockOffsetNotice(difference)),
  });
  return running(node, starting);
}

/** Returns the command that joins the chain. If the chain is on loopback, the joining node also listens on loopback. */
function joinCommand(networkDirectory: string, networking: Pick<NetworkSettings, "address"> | undefined): string {
  const command = `fanal node --network ${networkDirectory} --data-dir DIR --p2p-port 0`;
  return networking && isLoopbackAddress(networking.address)
    ? `${command} --p2p-address ${networking.address}`
    : command;
}
