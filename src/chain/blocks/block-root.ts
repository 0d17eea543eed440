import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import type { BeaconBlock, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";

export function blockRoot(config: BeaconConfig, block: BeaconBlock): RootHex {
  const type = config.getForkTypes(block.slot).BeaconBlock as Type<BeaconBlock>;
  return toRootHex(type.hashTreeRoot(block));
}
