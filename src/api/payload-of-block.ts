import { ForkSeq } from "@lodestar/params";
import { type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import type { ChainBlock } from "../chain/blocks/block-store.ts";
import type { ForkChoice } from "../chain/fork-choice/fork-choice.ts";
import type { ForkChoiceNode } from "../chain/fork-choice/types.ts";
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

/**
 * Returns what a block of the slot is built on: the block and, if its child has it or a proposer would build on it, its
 * payload.
 */
export async function nodeToBuildOn(
  chain: ChainView & { forkChoice: Pick<ForkChoice, "shouldBuildOnFull"> },
  root: RootHex,
  slot: Slot,
): Promise<ForkChoiceNode> {
  const { blocks, config, forkChoice } = chain;
  const block = await blocks.byRoot(root);
  const child = block?.canonical ? await canonicalChild(chain, root) : undefined;
  // The payload of a block from before gloas is a part of it.
  if (!block || config.getForkSeq(block.slot) < ForkSeq.gloas) return { root, payloadStatus: "full" };
  const isFull = child
    ? hasCanonicalPayload(chain, block, child)
    : forkChoice.shouldBuildOnFull({ root, payloadStatus: forkChoice.payloadStatusOf(root) }, slot);
  return { root, payloadStatus: isFull ? "full" : "empty" };
}
