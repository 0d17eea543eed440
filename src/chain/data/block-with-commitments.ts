import type { RootHex, SignedBeaconBlock } from "@lodestar/types";

/** A block with blob commitments. */
export interface BlockWithCommitments {
  signed: SignedBeaconBlock;
  root: RootHex;
}
