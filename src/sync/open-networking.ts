import { Network, type NetworkParts } from "../network/network.ts";
import type { RangeSyncLimits } from "./limits.ts";
import type { Networking } from "./networking.ts";
import { Sync } from "./sync.ts";

export interface OpenNetworking extends Networking {
  readonly network: Network;
  readonly sync: Sync;
}

export interface OpenNetworkingParts extends Omit<NetworkParts, "unknownBlocks"> {
  /** Those that differ from the defaults. */
  syncLimits?: Partial<RangeSyncLimits>;
}

/** The node among others, and its chain kept level with theirs. */
export async function openNetworking(parts: OpenNetworkingParts): Promise<OpenNetworking> {
  const network = await Network.open({
    ...parts,
    unknownBlocks: {
      onUnknownParent: (signed, peerId) => sync.onUnknownParent(signed, peerId),
      onUnknownBlock: (root, peerId) => sync.onUnknownBlock(root, peerId),
    },
  });
  const sync = new Sync({ chain: parts.chain, peers: network.peers, logger: parts.logger, limits: parts.syncLimits });
  return {
    network,
    sync,
    view: network.view,
    broadcast: network.gossip,
    get listening() {
      return network.listening;
    },
    async start() {
      await network.start();
      sync.start();
    },
    async close() {
      await sync.close();
      await network.close();
    },
  };
}
