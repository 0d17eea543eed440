import { ByteVectorType } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";

/**
 * Creates the codecs of all operations, for the forks of a chain. Method definitions must not import this module,
 * because it takes longer to load than they do.
 */
export function createCodecs(config: BeaconConfig) {
  writeAddressesInLowerCase();
  return {
    beacon: routes.beacon.getDefinitions(config),
    validator: routes.validator.getDefinitions(config),
    lightclient: routes.lightclient.getDefinitions(config),
    node: routes.node.getDefinitions(config),
    config: routes.config.getDefinitions(config),
    debug: routes.debug.getDefinitions(config),
  };
}

/**
 * Encodes execution addresses as lowercase hex, as the Beacon API does with all bytes. The library would use EIP-55
 * checksums, which cost one hash per address.
 */
function writeAddressesInLowerCase(): void {
  ssz.ExecutionAddress.toJson = ByteVectorType.prototype.toJson;
}
