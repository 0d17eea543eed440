import type { StaleState } from "../../chain/anchor/weak-subjectivity.ts";
import { PromiseTracker } from "../../debug/promise-tracker.ts";
import { isDevConfig } from "../../dev/chain-config.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import type { NetworkSettings } from "../../network/network-settings.ts";
import { loadNetworkConfig } from "../../node/chain-source/network-config.ts";
import { startNetworkNode } from "../../node/network-node.ts";
import { Notifier } from "../../node/notifier.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { useNativeHasher } from "../../runtime/native-hasher.ts";
import { usageError } from "../exit.ts";
import { listedValidators } from "../flags/dev/validator-list.ts";
import { networkBootnodes } from "../flags/network/bootnodes.ts";
import type { NodeCommandSettings } from "../flags/node/node-settings.ts";
import type { RunningNode } from "../run.ts";
import { announceStart } from "./banner.ts";
import { running } from "./running-node.ts";
import { announceServers, serverOptions } from "./servers.ts";
import { verifyPeers } from "./verify-peers.ts";

/** Runs `fanal node`: a node on a network. */
export async function runNode(
  settings: NodeCommandSettings,
  logger: Logger,
  { setSpec }: LogControl,
  signal?: AbortSignal,
): Promise<RunningNode> {
  announceStart({ network: settings.network.name, preset: settings.network.preset }, settings, logger);
  useNativeHasher(logger);
  const limited = await limitConnections(
    { servers: serverOptions(settings, logger), networking: settings.networking },
    logger,
  );
  const futures = settings.trackFutures ? PromiseTracker.started() : undefined;
  const { devValidators, networking } = settings;
  const runsValidators = devValidators === "all" || devValidators.length > 0;
  if (runsValidators) requireDevNetwork(settings);
  if (networking) await verifyPeers(networking);
  const { node, servers } = await startNetworkNode({
    ...settings,
    networking: networking && withLaterBootnodes(networking, settings.network),
    validators: runsValidators ? (count) => listedValidators(devValidators, count, "--dev-validators") : undefined,
    servers: limited,
    logger,
    setLogSpec: setSpec,
    futures,
    signal,
    onStale: (stale) => warnOfStaleState(stale, logger),
  });
  if (networking && !node.networking?.knowsPeers) warnWithoutPeers(networking, settings.network, logger);
  announceServers(servers, settings.servers, logger);
  const { chain } = node;
  const connectedPeers = node.networking && (() => node.networking!.view.peerCounts().connected);
  node.own(new Notifier({ chain, connectedPeers, needsPeers: networking !== undefined, logger }));
  return running(node);
}

/** Requires the network to be a dev chain's, since no other validator keys are known. */
function requireDevNetwork({ network }: NodeCommandSettings): void {
  if (isDevConfig(loadNetworkConfig(network))) return;
  throw usageError(
    `--dev-validators requires the network of a dev chain, but "${network.name}" is not one. ` +
      '"fanal dev" writes its directory.',
  );
}

/** Warns that the start state is older than the weak subjectivity period (phase0/weak-subjectivity.md). */
function warnOfStaleState({ epoch, ageEpochs, periodEpochs }: StaleState, logger: Logger): void {
  logger.warn(
    "State is older than the weak subjectivity period; unless all peers are trusted, start with an empty --data-dir " +
      "from a trusted recent state (--checkpoint-sync-url or --checkpoint-state)",
    { epoch, ageEpochs, periodEpochs },
  );
}

/** Rereads the bootnodes of a network directory later, because a dev chain writes its ENR only after its warm-up. */
function withLaterBootnodes(
  networking: NetworkSettings,
  { directory }: NodeCommandSettings["network"],
): NetworkSettings {
  if (directory === undefined || networking.bootnodes.length > 0) return networking;
  return { ...networking, readBootnodes: () => networkBootnodes(directory) };
}

/** Warns that the node has neither peers nor bootnodes to connect to. */
function warnWithoutPeers(
  { bootnodes, directPeers, discovery }: NetworkSettings,
  { directory }: NodeCommandSettings["network"],
  logger: Logger,
): void {
  if (directPeers.length > 0 || (discovery && bootnodes.length > 0)) return;
  const awaitsRecord = directory !== undefined && discovery && bootnodes.length === 0;
  logger.warn("No bootnodes or peers known, waiting for inbound connections; give --bootnodes or --peer", {
    ...(bootnodes.length > 0 && { hint: "bootnodes have no effect with --no-discovery" }),
    ...(awaitsRecord && { hint: `waiting for the dev chain to write its ENR to ${directory}` }),
  });
}
