import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { fromHex } from "@lodestar/utils";
import { storedChainConfig } from "../../dev/chain-config.ts";
import type { DevIdentity } from "../../dev/identity.ts";
import type { ChainLocation } from "../storage/data-directory.ts";
import { loadNetworkConfig, type NamedNetwork } from "./network-config.ts";
import { type NodeIdentity, requireSameNetwork } from "./node-identity.ts";

/**
 * Loads the configuration of a stored chain. Throws a `StartError` if the chain belongs to a network other than
 * `network`.
 */
export async function loadStoredConfig(
  identity: DevIdentity | NodeIdentity,
  requested: NamedNetwork | undefined,
  location: ChainLocation,
): Promise<BeaconConfig> {
  const genesisValidatorsRoot = fromHex(identity.genesisValidatorsRoot);
  if (identity.kind === "dev") return createBeaconConfig(storedChainConfig(identity), genesisValidatorsRoot);
  const network = requested ?? { name: identity.network, directory: undefined };
  const config = loadNetworkConfig(network);
  await requireSameNetwork(identity, config, network, location);
  return createBeaconConfig(config, genesisValidatorsRoot);
}
