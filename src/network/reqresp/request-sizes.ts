import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";

/** How many blocks may be asked for at a time (deneb/p2p-interface.md, BeaconBlocksByRange v2). */
export function maxRequestBlocks(config: BeaconConfig, currentEpoch: Epoch): number {
  return config.getForkSeqAtEpoch(currentEpoch) >= ForkSeq.deneb
    ? config.MAX_REQUEST_BLOCKS_DENEB
    : config.MAX_REQUEST_BLOCKS;
}
