import type { RootHex, SignedBeaconBlock } from "@lodestar/types";

export interface BlockWithCommitments {
  signed: SignedBeaconBlock;
  root: RootHex;
}
