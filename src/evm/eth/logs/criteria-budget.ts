import { EthError } from "../eth-error.ts";
import type { EthSubscription } from "./subscription.ts";

/** Maximum number of addresses and topics per filter or subscription. */
const MAX_OF_ONE = 1000;
/**
 * Maximum number of addresses and topics in all filters and subscriptions of a chain. Each is stored in two threads.
 */
const MAX_OF_ALL = 100_000;
const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -32005;

/**
 * Limits the addresses and topics of filters and subscriptions, which occupy memory for the lifetime of the
 * subscription.
 */
export class CriteriaBudget {
  #used = 0;

  /**
   * Throws an `EthError` if the subscription's addresses and topics exceed the limit per subscription or the shared
   * limit.
   */
  check(subscription: EthSubscription): void {
    const count = countOf(subscription);
    if (count > MAX_OF_ONE) {
      const counts = `has ${count}, limit ${MAX_OF_ONE}`;
      throw new EthError(`too many addresses and topics: filter or subscription ${counts}`, INVALID_PARAMS);
    }
    if (this.#used + count <= MAX_OF_ALL) return;
    const counts = `${this.#used} in use, ${count} requested, limit ${MAX_OF_ALL}`;
    throw new EthError(`too many addresses and topics in all filters and subscriptions: ${counts}`, LIMIT_EXCEEDED);
  }

  /** Counts the subscription against the limit until the returned function is called. Throws like `check`. */
  take(subscription: EthSubscription): () => void {
    this.check(subscription);
    let count = countOf(subscription);
    this.#used += count;
    return () => {
      this.#used -= count;
      count = 0;
    };
  }
}

function countOf(subscription: EthSubscription): number {
  if (subscription.kind !== "logs") return 0;
  const { addresses = [], topics = [] } = subscription;
  return topics.reduce((sum, values) => sum + (values?.length ?? 0), addresses.length);
}
