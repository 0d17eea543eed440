import type { ChainTags } from "./block-id.ts";
import type { EthMethods } from "./eth-methods.ts";
import type { EthSubscription } from "./logs/subscription.ts";

export type EthMethodName = keyof EthMethods;

/** Methods that add a transaction to the pool. */
export const SENDING_METHODS: readonly EthMethodName[] = ["sendTransaction", "sendRawTransaction"];

/** Arguments of a method: none, or one object. */
export type EthArgs<Name extends EthMethodName> = Parameters<EthMethods[Name]>[0] extends infer Args
  ? Args extends object
    ? Args
    : Record<string, never>
  : never;

/** The `eth_*` methods of an engine, which runs in this thread or in another. Calls fail with an `EthError`. */
export interface EthService {
  /** Sets the block for each tag. Applies to all later calls. */
  setTags(tags: ChainTags): void;
  call<Name extends EthMethodName>(name: Name, args: EthArgs<Name>, signal?: AbortSignal): Promise<unknown>;
  /**
   * Delivers events in chronological order, with logs delivered block by block. Returns a function that unsubscribes.
   * Subscribers must unsubscribe on overload, because logs are missing from that point on.
   */
  subscribe(
    subscription: EthSubscription,
    deliver: (results: readonly unknown[]) => void,
    onOverload?: () => void,
  ): () => void;
  /** Resolves once all earlier events have been delivered. */
  delivered(): Promise<void>;
}
