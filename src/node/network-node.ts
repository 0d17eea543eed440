import { ClosingStack } from "../async/closing-stack.ts";
import { findStale, type StaleState } from "../chain/weak-subjectivity.ts";
import { isDevConfig } from "../dev/chain-config.ts";
import { type BlobCounts, carryBlobs } from "../dev/dev-blobs.ts";
import type { KeySource } from "../dev/genesis-parameters.ts";
import { BeaconNode, type SharedOptions } from "./beacon-node.ts";
import { readyForBlobs } from "./commitments-ahead.ts";
import { loadNetworkConfig } from "./network-config.ts";
import { type NetworkSource, type NetworkSourceOptions, openNetworkSource } from "./network-source.ts";
import { type ChosenValidators, startValidators } from "./network-validators.ts";
import { prepareServers, type Servers, type ServersOptions } from "./servers.ts";

interface NetworkNodeOptions extends SharedOptions, NetworkSourceOptions {
  syncHorizonSlots?: number;
  /** Of the network of a dev chain; left out by a node that runs none. */
  validators?: ChosenValidators;
  /** Those that their blocks carry, where the built-in engine makes the payloads; by default none. */
  devBlobs?: BlobCounts;
  /** Where the keys of those validators come from; by default they are the well-known test keys. */
  keys?: KeySource;
  servers: ServersOptions;
  /** Told, before any other node is heard, that the chain is to be followed from a state that is too old for it. */
  onStale(stale: StaleState): void;
}

/** A node of a network, as it runs. */
interface NetworkNode {
  node: BeaconNode<NetworkSource>;
  servers: Servers;
}

export async function startNetworkNode(options: NetworkNodeOptions): Promise<NetworkNode> {
  await using starting = new ClosingStack();
  // It starts while the chain is opened.
  const thread = prepareServers(options.servers, options.logger);
  starting.defer(() => thread?.close());
  const node = await BeaconNode.open({
    ...options,
    waitForDisk: true,
    source: async (db) => ({ ...(await openNetworkSource(db, options)), syncHorizonSlots: syncHorizon(options) }),
  });
  starting.defer(() => node.close());
  const { source, chain } = node;
  if (options.devBlobs) {
    carryBlobs(source.engine, { config: chain.config, counts: options.devBlobs });
  }
  source.clock.start();
  const stale = await findStaleFinality(node);
  if (stale) options.onStale(stale);
  await node.networking?.start();
  if (options.validators) node.own(await startValidators(options.validators, options.keys, node, options.logger));
  const servers = await node.serve(options.servers, thread);
  // Only now, so that nobody waits longer for the first answer.
  if (node.networking) node.own(readyForBlobs(chain));
  starting.move();
  return { node, servers };
}

async function findStaleFinality({ chain }: BeaconNode<NetworkSource>): Promise<StaleState | null> {
  const { config, clock, states, forkChoice } = chain;
  return findStale(config, await states.atCheckpoint(forkChoice.finalized), clock.currentEpoch);
}

/** A dev chain on a node without a network goes on with that node's validators or not at all, however long they were away. */
function syncHorizon({ syncHorizonSlots, network, networking }: NetworkNodeOptions): number | undefined {
  const isAlone = networking === undefined && isDevConfig(loadNetworkConfig(network));
  return syncHorizonSlots ?? (isAlone ? Number.POSITIVE_INFINITY : undefined);
}
