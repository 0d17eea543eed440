import type { RootHex, SignedBeaconBlock } from "@lodestar/types";

/** A block with blob commitments. */
export interface CommittingBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}
