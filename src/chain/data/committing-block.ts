import type { RootHex, SignedBeaconBlock } from "@lodestar/types";

/** A block that data belongs to. */
export interface CommittingBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}
