import type { RootHex, SignedBeaconBlock } from "@lodestar/types";

/** Told about blocks that gossip refers to and this node does not have. */
export interface UnknownBlocks {
  /** A block, valid as far as can be told, whose parent is not known. */
  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void;
  /** A vote for a block that is not known. */
  onUnknownBlock(root: RootHex, peerId: string): void;
}
