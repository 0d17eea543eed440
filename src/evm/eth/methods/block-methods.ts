import type { BlockId } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { blockJson } from "../json/block-json.ts";
import { quantity } from "../json/hex.ts";

interface BlockArgs {
  block: BlockId;
  /** True for whole transactions. */
  full?: boolean | undefined;
}

/** Reads of blocks. */
export function blockMethods(chain: EthChain) {
  return {
    blockNumber: async () => quantity(chain.latest.header.number),
    getBlock: async ({ block, full = false }: BlockArgs) => {
      const found = await chain.find(block);
      const isPending = "tag" in block && block.tag === "pending";
      return found === undefined ? null : blockJson(found, { isFull: full, isPending });
    },
  };
}
