import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { EthChain } from "../eth-chain.ts";
import { headerJson } from "../json/block-json.ts";
import { data } from "../json/hex.ts";
import { transactionJson } from "../json/transaction-json.ts";
import { type LogCriteria, LogMatcher } from "./log-matcher.ts";

/** Subscriptions of `eth_subscribe`, as JSON. */
export type EthSubscription =
  | { readonly kind: "newHeads" }
  | ({ readonly kind: "logs" } & LogCriteria)
  | { readonly kind: "newPendingTransactions"; readonly full?: boolean }
  | { readonly kind: "syncing" };

/**
 * Delivers events in chronological order. In a reorg, logs of orphaned blocks come first, with `removed: true`. Returns
 * a function that ends the subscription.
 */
export function subscribe(
  chain: EthChain<EvmEngine>,
  subscription: EthSubscription,
  deliver: (results: readonly unknown[]) => void,
): () => void {
  const deliverSome = (results: readonly unknown[]) => {
    if (results.length > 0) deliver(results);
  };
  switch (subscription.kind) {
    case "newHeads":
      // A chain that goes back to an earlier block adds none.
      return chain.onHead(({ added, head }) => deliver((added.length > 0 ? added : [head]).map(headerJson)));
    case "logs": {
      const matcher = new LogMatcher(subscription, chain.engine.rules.crypto.keccak);
      return chain.onHead(({ removed, added }) => {
        const lost = removed.flatMap((block) => matcher.logsOf(block, true).reverse());
        deliverSome([...lost, ...added.flatMap((block) => matcher.logsOf(block))]);
      });
    }
    case "newPendingTransactions":
      return chain.engine.onTransaction(({ transaction }) =>
        deliver([subscription.full ? transactionJson(transaction) : data(transaction.hash)]),
      );
    // The chain never syncs, so there is nothing to deliver.
    case "syncing":
      return () => {};
  }
}
