import { useNativeHasher } from "../../chain/native-hasher.ts";
import type { StaleState } from "../../chain/weak-subjectivity.ts";
import { PromiseTracker } from "../../debug/promise-tracker.ts";
import { isDevConfig } from "../../dev/chain-config.ts";
import type { Logger } from "../../log/logger.ts";
import type { LogControl } from "../../log/pino-logger.ts";
import type { NetworkingOptions } from "../../network/networking-options.ts";
import { loadNetworkConfig } from "../../node/chain-source/network-config.ts";
import { startNetworkNode } from "../../node/network-node.ts";
import { Notifier } from "../../node/notifier.ts";
import { limitConnections } from "../../node/servers/connection-limits.ts";
import { usageError } from "../exit.ts";
import { networkBootnodes } from "../flags/bootnodes.ts";
import type { NodeOptions } from "../flags/options.ts";
import { listedValidators } from "../flags/validator-list.ts";
import type { RunningNode } from "../run.ts";
import { announceStart } from "./banner.ts";
import { running } from "./running.ts";
import { announceServers, serverOptions } from "./serving.ts";
import { requireUsablePeers } from "./usable-peers.ts";

/** `fanal node`: a node of a given network. */
export async function runNode(
  options: NodeOptions,
  logger: Logger,
  { setSpec }: LogControl,
  signal?: AbortSignal,
): Promise<RunningNode> {
  announceStart({ network: options.network.name, preset: options.network.preset }, options, logger);
  useNativeHasher(logger);
  const wanted = await limitConnections(
    { servers: serverOptions(options, logger), networking: options.networking },
    logger,
  );
  const futures = options.trackFutures ? PromiseTracker.started() : undefined;
  const { devValidators, networking } = options;
  const runsValidators = devValidators === "all" || devValidators.length > 0;
  if (runsValidators) requireDevNetwork(options);
  if (networking) await requireUsablePeers(networking);
  const { node, servers } = await startNetworkNode({
    ...options,
    networking: networking && withLaterBootnodes(networking, options.network),
    syncHorizonSlots: options.syncHorizon,
    validators: runsValidators ? (count) => listedValidators(devValidators, count, "--dev-validators") : undefined,
    servers: wanted,
    logger,
    setLogSpec: setSpec,
    futures,
    signal,
    onStale: (stale) => warnOfStaleState(stale, logger),
  });
  if (networking && !node.networking?.knowsPeers) warnWithoutPeers(networking, options.network, logger);
  announceServers(servers, options, logger);
  const { chain } = node;
  const connectedPeers = node.networking && (() => node.networking!.view.peerCounts().connected);
  node.own(new Notifier({ chain, connectedPeers, needsPeers: networking !== undefined, logger }));
  return running(node);
}

/** The keys of a dev chain's validators are known to everybody; those of another network are not ours. */
function requireDevNetwork({ network }: NodeOptions): void {
  if (isDevConfig(loadNetworkConfig(network))) return;
  throw usageError(
    `--dev-validators is for the network of a dev chain ("fanal dev" writes its directory), and ${network.name} is none.`,
  );
}

/** Only somebody who is trusted can tell the true chain from one that was made up later. */
function warnOfStaleState({ epoch, ageEpochs, periodEpochs }: StaleState, logger: Logger): void {
  logger.warn(
    `This node would follow the chain from a state of epoch ${epoch}, which is ${ageEpochs} epochs old. That is beyond the weak ` +
      `subjectivity period of ${periodEpochs} epochs: whoever were validators then could lead it to a chain that they made up since. ` +
      "Unless all its peers can be trusted, stop it, and start with an empty --data-dir from a recent state of somebody " +
      "who can: with --checkpoint-sync-url, or with --checkpoint-state.",
  );
}

/** A dev chain writes its record into the directory of its network when its history is made, which may be after this node has started. */
function withLaterBootnodes(networking: NetworkingOptions, { directory }: NodeOptions["network"]): NetworkingOptions {
  if (directory === undefined || networking.bootnodes.length > 0) return networking;
  return { ...networking, readBootnodes: () => networkBootnodes(directory) };
}

/** A node that knows nobody may wait for long until it is found. */
function warnWithoutPeers(
  { bootnodes, directPeers, discovery }: NetworkingOptions,
  { directory }: NodeOptions["network"],
  logger: Logger,
): void {
  if (directPeers.length > 0 || (discovery && bootnodes.length > 0)) return;
  const unused = bootnodes.length > 0 ? " Without discovery bootnodes are of no use." : "";
  const unnamed =
    directory !== undefined && discovery && bootnodes.length === 0
      ? ` ${directory} names none: a dev chain writes its record there when its history is made, and this node looks for it until then.`
      : "";
  logger.warn(`No other node is known, so this one waits to be found: give --bootnodes or --peer.${unused}${unnamed}`);
}
