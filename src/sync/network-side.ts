import type { BeaconChain } from "../chain/chain.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Logger } from "../log/logger.ts";
import { LocalNode } from "../network/local-node.ts";
import { type NetworkView, noNetwork } from "../network/network-view.ts";
import type { NetworkingOptions } from "../network/networking-options.ts";
import { openNodeKey } from "../network/node-key.ts";
import type { Networking } from "./networking.ts";

export interface NetworkSideParts {
  chain: BeaconChain;
  db: BeaconDb;
  /** Undefined for a node that speaks to no other. */
  options: NetworkingOptions | undefined;
  logger: Logger;
}

export interface NetworkSide {
  view: NetworkView;
  networking: Networking | undefined;
}

/**
 * What a chain has to do with other nodes; when that cannot be had, the chain is closed. The libraries for it are loaded
 * only when there are to be any.
 */
export async function openNetworkSide(parts: NetworkSideParts): Promise<NetworkSide> {
  try {
    return await open(parts);
  } catch (error) {
    await parts.chain.close();
    throw error;
  }
}

async function open({ chain, db, options, logger }: NetworkSideParts): Promise<NetworkSide> {
  const node = await LocalNode.open({ key: await openNodeKey(db), config: chain.config, clock: chain.clock, db });
  if (options === undefined) {
    node.leaveSubnets();
    return { view: noNetwork(node), networking: undefined };
  }
  const { openNetworking } = await import("./open-networking.ts");
  const networking = await openNetworking({ chain, db, node, options, logger });
  return { view: networking.view, networking };
}
