import type { BlockId } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data, fromHex } from "../json/hex.ts";
import { receiptsJson } from "../json/receipt-json.ts";
import { transactionJson } from "../json/transaction-json.ts";

interface HashArgs {
  hash: string;
}

interface IndexArgs {
  block: BlockId;
  index: bigint;
}

/** Methods that read and submit transactions. */
export function transactionMethods(chain: EthChain) {
  const { engine } = chain;
  return {
    getTransaction: async ({ hash }: HashArgs) => {
      const place = await chain.findTransaction(hash);
      if (place !== undefined) return transactionJson(place.block.transactions[place.index]!, place);
      const pooled = engine.pool.get(fromHex(hash));
      return pooled === undefined ? null : transactionJson(pooled.transaction);
    },
    getTransactionOfBlock: async ({ block: id, index }: IndexArgs) => {
      const block = await chain.find(id);
      const transaction = block?.transactions[Number(index)];
      if (block === undefined || transaction === undefined) return null;
      const isPending = "tag" in id && id.tag === "pending";
      return transactionJson(transaction, isPending ? undefined : { block, index: Number(index) });
    },
    getReceipt: async ({ hash }: HashArgs) => {
      const place = await chain.findTransaction(hash);
      if (place !== undefined) {
        return receiptsJson(place.block, engine.rules.at(place.block.header.timestamp))[place.index]!;
      }
      const reason = engine.dropped.reasonOf(fromHex(hash));
      if (reason !== undefined) throw new EthError(`transaction dropped: ${reason}`);
      return null;
    },
    sendRawTransaction: async ({ raw }: { raw: Uint8Array }) => {
      const { transaction } = await engine.addTransaction(raw);
      return data(transaction.hash);
    },
  };
}
