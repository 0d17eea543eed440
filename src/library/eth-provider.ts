import type { EthSchema, EthSchemaRequest } from "../client/eth-schema.ts";

/** Arguments of a request (EIP-1193). */
export interface EthRequest<Method extends string = string> {
  /** Takes the types of methods in the schema from there, unless a result type is given. */
  readonly method: Method extends keyof EthSchema ? never : Method;
  readonly params?: readonly unknown[] | object;
}

/** Message for an `eth_subscribe` subscription. */
export interface EthMessage {
  readonly type: "eth_subscription";
  readonly data: { readonly subscription: string; readonly result: unknown };
}

/** Events of the provider. The chain id and the accounts never change, so their events are never emitted. */
export interface EthEvents {
  connect: [info: { readonly chainId: string }];
  disconnect: [error: Error & { readonly code: number }];
  message: [message: EthMessage];
  chainChanged: [chainId: string];
  accountsChanged: [accounts: readonly string[]];
}

/** EIP-1193 provider for a chain with an EVM: `custom(chain.eth)` in viem, `BrowserProvider` in ethers. */
export interface EthProvider {
  /**
   * Calls a method of the chain. Parameters and results of the execution layer are typed; `request<Result>(…)` calls
   * any other method. Errors carry the `code` and `data` of the response.
   */
  request<Method extends keyof EthSchema>(request: EthSchemaRequest<Method>): Promise<EthSchema[Method]["result"]>;
  request<Result = unknown, Method extends string = string>(request: EthRequest<Method>): Promise<Result>;
  on<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this;
  removeListener<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this;
}
