import type { BlockId } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { accessListJson } from "../json/access-list-json.ts";
import { blockJson } from "../json/block-json.ts";
import { quantity } from "../json/hex.ts";
import { receiptsJson } from "../json/receipt-json.ts";
import { transactionJson } from "../json/transaction-json.ts";

interface BlockArgs {
  block: BlockId;
}

interface IndexArgs extends BlockArgs {
  index: bigint;
}

interface FullBlockArgs extends BlockArgs {
  /** True to return full transactions. */
  full?: boolean | undefined;
}

/** Methods that read blocks. */
export function blockMethods(chain: EthChain) {
  const { rules } = chain.engine;
  return {
    blockNumber: async () => quantity(chain.latest.header.number),
    getBlock: async ({ block, full = false }: FullBlockArgs) => {
      const found = await chain.find(block);
      const isPending = "tag" in block && block.tag === "pending";
      return found === undefined ? null : blockJson(found, { isFull: full, isPending });
    },
    getTransactionOfBlock: async ({ block: id, index }: IndexArgs) => {
      const block = await chain.find(id);
      const transaction = block?.transactions[Number(index)];
      if (block === undefined || transaction === undefined) return null;
      const isPending = "tag" in id && id.tag === "pending";
      return transactionJson(transaction, isPending ? undefined : { block, index: Number(index) });
    },
    getTransactionCountOfBlock: async ({ block }: BlockArgs) => {
      const found = await chain.find(block);
      return found === undefined ? null : quantity(found.transactions.length);
    },
    /** Blocks after the merge have no uncles. */
    getUncleCountOfBlock: async ({ block }: BlockArgs) => ((await chain.find(block)) === undefined ? null : "0x0"),
    /** Null also for blocks before Amsterdam, which have no access list. */
    getBlockAccessList: async ({ block }: BlockArgs) => {
      const found = await chain.find(block);
      return found?.blockAccessList === undefined ? null : accessListJson(found.blockAccessList);
    },
    getBlockReceipts: async ({ block }: BlockArgs) => {
      const found = await chain.find(block);
      return found === undefined ? null : receiptsJson(found, rules.at(found.header.timestamp));
    },
  };
}
