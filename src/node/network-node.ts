import { isDevConfig } from "../dev/chain-config.ts";
import { BeaconNode, type BeaconNodeOptions } from "./beacon-node.ts";
import { loadNetworkConfig } from "./network-config.ts";
import { type NetworkSource, type NetworkSourceOptions, openNetworkSource } from "./network-source.ts";
import type { Servers, ServersOptions } from "./servers.ts";
import { type ChosenValidators, startValidators } from "./validators.ts";

type SharedOptions = Pick<
  BeaconNodeOptions<NetworkSource>,
  "dataDir" | "graffiti" | "networking" | "logger" | "setLogSpec" | "futures"
>;

export interface NetworkNodeOptions extends SharedOptions, NetworkSourceOptions {
  syncHorizonSlots?: number;
  /** Of the network of a dev chain; left out by a node that runs none. */
  validators?: ChosenValidators;
  servers: ServersOptions;
}

/** A node of a network, as it runs. */
export interface NetworkNode {
  node: BeaconNode<NetworkSource>;
  servers: Servers;
}

export async function startNetworkNode(options: NetworkNodeOptions): Promise<NetworkNode> {
  await using starting = new AsyncDisposableStack();
  const node = await BeaconNode.open({
    ...options,
    waitForDisk: true,
    source: async (db) => ({ ...(await openNetworkSource(db, options)), syncHorizonSlots: syncHorizon(options) }),
  });
  starting.defer(() => node.close());
  node.source.clock.start();
  await node.networking?.start();
  if (options.validators) node.own(await startValidators(options.validators, node, options.logger));
  const servers = await node.serve(options.servers);
  starting.move();
  return { node, servers };
}

/** A dev chain on a node without a network goes on with that node's validators or not at all, however long they were away. */
function syncHorizon({ syncHorizonSlots, network, networking }: NetworkNodeOptions): number | undefined {
  const isAlone = networking === undefined && isDevConfig(loadNetworkConfig(network));
  return syncHorizonSlots ?? (isAlone ? Number.POSITIVE_INFINITY : undefined);
}
