/** Arguments of a request (EIP-1193). */
export interface EthRequest {
  readonly method: string;
  readonly params?: readonly unknown[] | object;
}

/** Message of a subscription of `eth_subscribe`. */
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

/** Provider of a chain with the EVM (EIP-1193): `custom(chain.eth)` in viem, `BrowserProvider` in ethers. */
export interface EthProvider {
  /** Calls any method of the chain. Errors have the `code` and the `data` of the response. */
  request<Result = unknown>(request: EthRequest): Promise<Result>;
  on<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this;
  removeListener<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this;
}
