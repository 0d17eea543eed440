import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { fromHex } from "@lodestar/utils";
import { storedChainConfig } from "../dev/chain-config.ts";
import type { DevIdentity } from "../dev/identity.ts";
import type { ChainHolder } from "./data-directory.ts";
import { loadNetworkConfig, type NamedNetwork } from "./network-config.ts";
import { type NodeIdentity, requireSameNetwork } from "./node-identity.ts";

/** The configuration of a chain by what identifies it; of a network, also which one that is. Throws a `StartError` for another one. */
export async function storedConfig(
  identity: DevIdentity | NodeIdentity,
  given: NamedNetwork | undefined,
  holder: ChainHolder,
): Promise<BeaconConfig> {
  const genesisValidatorsRoot = fromHex(identity.genesisValidatorsRoot);
  if (identity.kind === "dev") return createBeaconConfig(storedChainConfig(identity), genesisValidatorsRoot);
  const network = given ?? { name: identity.network, directory: undefined };
  const config = loadNetworkConfig(network);
  await requireSameNetwork(identity, config, network, holder);
  return createBeaconConfig(config, genesisValidatorsRoot);
}
