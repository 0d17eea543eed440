import { encodeNetworkBlock } from "../../execution/block.ts";
import { encodeHeader } from "../../execution/header.ts";
import { encodeReceipt } from "../../execution/receipt.ts";
import type { BlockId } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";

interface BlockArgs {
  block: BlockId;
}

/** Methods that return binary encodings of blocks and transactions. */
export function rawMethods(chain: EthChain) {
  const find = async ({ block }: BlockArgs) => {
    const found = await chain.find(block);
    if (found === undefined) throw new EthError("block not found");
    return found;
  };
  return {
    getRawHeader: async (args: BlockArgs) => data(encodeHeader((await find(args)).header)),
    getRawBlock: async (args: BlockArgs) => data(encodeNetworkBlock(await find(args))),
    getRawBlockAccessList: async (args: BlockArgs) => {
      const { blockAccessList } = await find(args);
      return blockAccessList === undefined ? null : data(blockAccessList);
    },
    getRawReceipts: async (args: BlockArgs) =>
      (await find(args)).receipts.map((receipt) => data(encodeReceipt(receipt))),
  };
}
