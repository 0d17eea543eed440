import type { LogCriteria } from "./log-matcher.ts";

/** Subscriptions of `eth_subscribe`, as JSON. */
export type EthSubscription =
  | { readonly kind: "newHeads" }
  | ({ readonly kind: "logs" } & LogCriteria)
  | { readonly kind: "newPendingTransactions"; readonly full?: boolean }
  | { readonly kind: "syncing" };

/** Functions of a subscriber. */
export interface EthSubscriber {
  /** Equal subscriptions get the same results. The logs after these wait until the returned promise is resolved. */
  readonly deliver: (results: readonly unknown[]) => unknown;
  /** Called when the chain cannot deliver all logs to all subscribers. The subscriber should unsubscribe. */
  readonly onOverload: (() => void) | undefined;
}
