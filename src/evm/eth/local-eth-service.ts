import type { EvmEngine } from "../engine/evm-engine.ts";
import { PoolError } from "../pool/pool-error.ts";
import type { GasEstimator } from "./accounts/signer.ts";
import type { ChainTags } from "./block-id.ts";
import { EthChain } from "./eth-chain.ts";
import { EthError } from "./eth-error.ts";
import { type EthMethods, ethMethods } from "./eth-methods.ts";
import type { EthArgs, EthMethodName, EthService } from "./eth-service.ts";
import type { EthSubscription } from "./logs/subscription.ts";
import { Subscriptions } from "./logs/subscriptions.ts";

type AnyMethod = (args: unknown, signal?: AbortSignal) => Promise<unknown>;

/** Service that runs in its engine's thread. */
export class LocalEthService implements EthService {
  readonly chain: EthChain<EvmEngine>;
  readonly #methods: EthMethods;
  readonly #subscriptions: Subscriptions;

  /** If the estimator runs elsewhere, reads that require execution fail with an `ExecutionNeededError`. */
  constructor(engine: EvmEngine, estimator?: GasEstimator) {
    this.chain = new EthChain(engine, { executesBlocks: estimator === undefined });
    const estimate: GasEstimator = async (call) => BigInt(await this.#methods.estimateGas({ call }));
    this.#methods = ethMethods(this.chain, estimator ?? estimate);
    this.#subscriptions = new Subscriptions(this.chain);
  }

  /** Resolves once subscriptions have received the new head. Resolves to false if the head is not in memory. */
  async setTags(tags: ChainTags): Promise<boolean> {
    const isKnown = this.chain.setTags(tags);
    await this.#subscriptions.delivered();
    return isKnown;
  }

  subscribe(
    subscription: EthSubscription,
    deliver: (results: readonly unknown[]) => unknown,
    onOverload?: () => void,
  ): () => void {
    return this.#subscriptions.add(subscription, { deliver, onOverload });
  }

  delivered(): Promise<void> {
    return this.#subscriptions.delivered();
  }

  async call<Name extends EthMethodName>(name: Name, args: EthArgs<Name>, signal?: AbortSignal): Promise<unknown> {
    try {
      return await (this.#methods[name] as AnyMethod)(args, signal);
    } catch (error) {
      // The pool uses geth's messages.
      throw error instanceof PoolError ? new EthError(error.message) : error;
    }
  }
}
