import { ClosingStack } from "../async/closing-stack.ts";
import { findStaleState, type StaleState } from "../chain/anchor/weak-subjectivity.ts";
import { isDevConfig } from "../dev/chain-config.ts";
import { attachBlobs, type BlobCounts } from "../dev/dev-blobs.ts";
import { DevEvm } from "../dev/evm/dev-evm.ts";
import type { KeySource } from "../dev/genesis-parameters.ts";
import type { SyncSettings } from "../sync/settings.ts";
import { BeaconNode, type SharedOptions } from "./beacon-node.ts";
import { loadNetworkConfig } from "./chain-source/network-config.ts";
import { type NetworkSource, type NetworkSourceSettings, openNetworkSource } from "./chain-source/network-source.ts";
import { type SelectValidators, startValidators } from "./network-validators.ts";
import { preloadTrustedSetup } from "./preload-trusted-setup.ts";
import { type Servers, type ServersOptions, startServersThread } from "./servers/servers.ts";
import type { NodeSettings } from "./settings.ts";

/** Settings of a node that joins a network. */
export interface NetworkNodeSettings extends NodeSettings, NetworkSourceSettings {
  sync: SyncSettings;
  /** Blobs in payloads from the built-in engine. */
  devBlobs: BlobCounts;
  /** Key source of in-process validators; undefined for the well-known interop keys. */
  keys: KeySource | undefined;
}

interface NetworkNodeOptions extends NetworkNodeSettings, SharedOptions {
  /** In-process validators of a dev chain network. Omitted if there are none. */
  validators?: SelectValidators;
  servers: ServersOptions;
  /** Called before the network starts if the finalized state is outside the weak subjectivity period. */
  onStale(stale: StaleState): void;
}

/** A running node on a network. */
interface NetworkNode {
  node: BeaconNode<NetworkSource>;
  servers: Servers;
}

/** Opens and starts a network node and its servers. */
export async function startNetworkNode(options: NetworkNodeOptions): Promise<NetworkNode> {
  await using starting = new ClosingStack();
  // Starts concurrently with the chain.
  const thread = startServersThread(options.servers, options.logger);
  starting.defer(() => thread?.close());
  const node = await BeaconNode.open({
    ...options,
    waitForDisk: true,
    source: async (db) => ({ ...(await openNetworkSource(db, options)), syncHorizonSlots: syncHorizon(options) }),
  });
  starting.defer(() => node.close());
  const { source, chain } = node;
  attachBlobs(source.engine, { config: chain.config, counts: options.devBlobs });
  if (source.evm) {
    const { ready, deposits } = new DevEvm(source.evm, { chain, db: node.db, hasNetwork: true });
    await node.untilReady(ready);
    // Subscribes before the validators: their blocks must contain the deposits the chain has agreed on.
    source.clock.onSlot((slot) => deposits.onSlot(slot));
  }
  source.clock.start();
  const stale = await findStaleFinality(node);
  if (stale) options.onStale(stale);
  await node.networking?.start();
  if (options.validators) node.own(await startValidators(options.validators, options.keys, node, options.logger));
  const servers = await node.serve(options.servers, { thread });
  // Runs after the servers have started, so that the first response is not delayed.
  if (node.networking) node.own(preloadTrustedSetup(chain));
  starting.move();
  return { node, servers };
}

async function findStaleFinality({ chain }: BeaconNode<NetworkSource>): Promise<StaleState | null> {
  const { config, clock, states, forkChoice } = chain;
  return findStaleState(config, await states.atCheckpoint(forkChoice.finalized), clock.currentEpoch);
}

/** Returns infinity for a dev chain without a network, which only this node can extend. */
function syncHorizon({ sync, network, networking }: NetworkNodeOptions): number | undefined {
  const isAlone = networking === undefined && isDevConfig(loadNetworkConfig(network));
  return sync.horizonSlots ?? (isAlone ? Number.POSITIVE_INFINITY : undefined);
}
