import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data, fromHex } from "../json/hex.ts";
import { receiptsJson } from "../json/receipt-json.ts";
import { transactionJson } from "../json/transaction-json.ts";

interface HashArgs {
  hash: string;
}

/** Methods that read and submit transactions. */
export function transactionMethods(chain: EthChain<EvmEngine>) {
  const { engine } = chain;
  return {
    getTransaction: async ({ hash }: HashArgs) => {
      const included = await chain.findTransaction(hash);
      if (included !== undefined) return transactionJson(included.block.transactions[included.index]!, included);
      const pooled = engine.pool.get(fromHex(hash));
      return pooled === undefined ? null : transactionJson(pooled.transaction);
    },
    getReceipt: async ({ hash }: HashArgs) => {
      const included = await chain.findTransaction(hash);
      if (included !== undefined) {
        return receiptsJson(included.block, engine.rules.at(included.block.header.timestamp))[included.index]!;
      }
      const reason = engine.dropped.reasonOf(fromHex(hash));
      if (reason !== undefined) throw new EthError(`transaction dropped: ${reason}`);
      return null;
    },
    getRawTransaction: async ({ hash }: HashArgs) => {
      const included = await chain.findTransaction(hash);
      const { raw } = included?.block.transactions[included.index] ?? engine.pool.get(fromHex(hash))?.transaction ?? {};
      return raw === undefined ? null : data(raw);
    },
    sendRawTransaction: async ({ raw }: { raw: Uint8Array }) => {
      const { transaction } = await engine.addTransaction(raw);
      return data(transaction.hash);
    },
  };
}
