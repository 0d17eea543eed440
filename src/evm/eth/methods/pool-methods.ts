import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { PooledTransaction } from "../../pool/pooled-transaction.ts";
import type { EthChain } from "../eth-chain.ts";
import { data, quantity } from "../json/hex.ts";
import { transactionJson } from "../json/transaction-json.ts";

type Encode<T> = (pooled: PooledTransaction) => T;

/** Methods that inspect the transaction pool, in geth's format. */
export function poolMethods({ engine: { pool } }: EthChain<EvmEngine>) {
  const bySender = <T>(encode: Encode<T>) => {
    const all = [...pool.content()];
    const side = (name: "pending" | "queued") =>
      Object.fromEntries(
        all
          .filter(([, content]) => content[name].length > 0)
          .map(([sender, content]) => [
            sender,
            Object.fromEntries(content[name].map((pooled) => [String(pooled.nonce), encode(pooled)])),
          ]),
      );
    return { pending: side("pending"), queued: side("queued") };
  };
  return {
    /** Returns an account's nonce, counting its pooled transactions. */
    pooledTransactionCount: async ({ address }: { address: Uint8Array }) => quantity(pool.nextNonce(address)),
    poolStatus: async () => {
      const { pending, queued } = pool.counts();
      return { pending: quantity(pending), queued: quantity(queued) };
    },
    poolContent: async () => bySender(({ transaction }) => transactionJson(transaction)),
    poolContentFrom: async ({ address }: { address: Uint8Array }) => {
      const { pending = [], queued = [] } = pool.content().get(data(address)) ?? {};
      const byNonce = (side: readonly PooledTransaction[]) =>
        Object.fromEntries(side.map(({ nonce, transaction }) => [String(nonce), transactionJson(transaction)]));
      return { pending: byNonce(pending), queued: byNonce(queued) };
    },
    poolInspect: async () =>
      bySender(({ transaction: { tx }, feeCap }) => {
        const to = tx.to?.toString() ?? "contract creation";
        return `${to}: ${tx.value} wei + ${tx.gasLimit} gas × ${feeCap} wei`;
      }),
  };
}
