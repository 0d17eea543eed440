import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { EthChain } from "../eth-chain.ts";
import { headerJson } from "../json/block-json.ts";
import { data } from "../json/hex.ts";
import { transactionJson } from "../json/transaction-json.ts";
import { LogMatcher } from "./log-matcher.ts";
import { LogPublisher } from "./log-publisher.ts";
import type { EthSubscriber, EthSubscription } from "./subscription.ts";

interface Group {
  readonly subscribers: Set<EthSubscriber>;
  end(): void;
}

/** Subscriptions to a chain's events. Equal subscriptions share their results. */
export class Subscriptions {
  readonly #chain: EthChain<EvmEngine>;
  readonly #logs: LogPublisher;
  readonly #groups = new Map<string, Group>();

  constructor(chain: EthChain<EvmEngine>, maxWork?: number) {
    this.#chain = chain;
    this.#logs = new LogPublisher(chain, maxWork);
  }

  /**
   * Delivers events in chronological order. In a reorg, the logs of orphaned blocks come first, with `removed: true`.
   * Returns a function that unsubscribes.
   */
  add(subscription: EthSubscription, subscriber: EthSubscriber): () => void {
    const key = JSON.stringify(subscription);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const subscribers = new Set<EthSubscriber>();
      group = { subscribers, end: this.#open(subscription, subscribers) };
      this.#groups.set(key, group);
    }
    const { subscribers, end } = group;
    subscribers.add(subscriber);
    return () => {
      if (!subscribers.delete(subscriber) || subscribers.size > 0) return;
      end();
      this.#groups.delete(key);
    };
  }

  /** Resolves once all earlier events have been delivered. */
  delivered(): Promise<void> {
    return this.#logs.published();
  }

  #open(subscription: EthSubscription, subscribers: ReadonlySet<EthSubscriber>): () => void {
    const deliver = (results: readonly unknown[]) => {
      for (const subscriber of subscribers) subscriber.deliver(results);
    };
    switch (subscription.kind) {
      case "newHeads":
        // Reverting to an earlier block adds no blocks.
        return this.#chain.onHead(({ added, head }) => deliver((added.length > 0 ? added : [head]).map(headerJson)));
      case "logs":
        return this.#logs.add({
          matcher: new LogMatcher(subscription, this.#chain.engine.rules.crypto.keccak),
          subscribers,
        });
      case "newPendingTransactions":
        return this.#chain.engine.onTransaction(({ transaction }) =>
          deliver([subscription.full ? transactionJson(transaction) : data(transaction.hash)]),
        );
      // The chain is always synced, so there are no events.
      case "syncing":
        return () => {};
    }
  }
}
