import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { fromHex, toHex } from "@lodestar/utils";
import { devChainConfig } from "../dev/chain-config.ts";
import type { DevIdentity } from "../dev/identity.ts";
import { loadNetworkConfig, type NamedNetwork } from "./network-config.ts";
import type { NodeIdentity } from "./network-source.ts";
import { StartError } from "./start-error.ts";

/** The configuration of a chain by what identifies it; of a network, also which one that is. */
export function storedConfig(identity: DevIdentity | NodeIdentity, network: NamedNetwork | undefined): BeaconConfig {
  const genesisValidatorsRoot = fromHex(identity.genesisValidatorsRoot);
  if (identity.kind === "dev") return createBeaconConfig(devChainConfig(identity), genesisValidatorsRoot);
  const config = loadNetworkConfig(network ?? { name: identity.network, directory: undefined });
  if (toHex(config.GENESIS_FORK_VERSION) === identity.genesisForkVersion) {
    return createBeaconConfig(config, genesisValidatorsRoot);
  }
  throw new StartError("otherChain", `The chain is that of the network ${identity.network}, not of ${network?.name}.`);
}
