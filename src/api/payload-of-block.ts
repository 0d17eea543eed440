import { type gloas, type RootHex, ssz } from "@lodestar/types";
import type { ChainBlock } from "../chain/blocks/block-store.ts";
import type { ChainView } from "./chain-view.ts";

export async function canonicalChild({ blocks }: ChainView, root: RootHex): Promise<ChainBlock | undefined> {
  const children = await blocks.childrenOf(root);
  return children.find(({ canonical }) => canonical);
}

/** Returns the bid of a block since gloas. */
export const bidOf = ({ signed }: Pick<ChainBlock, "signed">): gloas.ExecutionPayloadBid =>
  (signed as gloas.SignedBeaconBlock).message.body.signedExecutionPayloadBid.message;

/**
 * True if the payload of a canonical block since gloas is on the canonical chain, too. The block's child determines
 * that, until then fork choice.
 */
export function hasCanonicalPayload(chain: ChainView, block: ChainBlock, child: ChainBlock | undefined): boolean {
  return child
    ? ssz.Bytes32.equals(bidOf(child).parentBlockHash, bidOf(block).blockHash)
    : chain.forkChoice.payloadStatusOf(block.root) === "full";
}
