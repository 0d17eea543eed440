import type { ChainForkConfig } from "@lodestar/config";
import { signedBlockToSignedHeader } from "@lodestar/state-transition";
import type { phase0, SignedBeaconBlock } from "@lodestar/types";

const headers = new WeakMap<SignedBeaconBlock, phase0.SignedBeaconBlockHeader>();

/** Returns the signed header of a block. Memoized per block object, because the whole body has to be hashed. */
export function signedHeaderOf(config: ChainForkConfig, block: SignedBeaconBlock): phase0.SignedBeaconBlockHeader {
  let header = headers.get(block);
  if (header === undefined) {
    header = signedBlockToSignedHeader(config, block);
    headers.set(block, header);
  }
  return header;
}
