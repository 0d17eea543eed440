import type { LogCriteria } from "./log-matcher.ts";

/** Parameters of `eth_subscribe`, as JSON. */
export type EthSubscription =
  | { readonly kind: "newHeads" }
  | ({ readonly kind: "logs" } & LogCriteria)
  | { readonly kind: "newPendingTransactions"; readonly full?: boolean }
  | { readonly kind: "syncing" };

/** Callbacks of a subscriber. */
export interface EthSubscriber {
  /**
   * Receives results, which are shared by identical subscriptions. The next logs are held back until the returned
   * promise resolves.
   */
  readonly deliver: (results: readonly unknown[]) => unknown;
  /** Called if the node cannot deliver all logs to all subscribers. The subscriber should unsubscribe. */
  readonly onOverload: (() => void) | undefined;
}
