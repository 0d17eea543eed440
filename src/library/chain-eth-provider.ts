import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { type Feed, OVERLOAD_MESSAGE } from "../server/events/feed.ts";
import type { Client as Caller } from "../server/method-table.ts";
import type { EthEvents, EthMessage, EthProvider, EthRequest } from "./eth-provider.ts";

/** Calls a method. `caller` receives the events of its subscriptions. */
type Send = (method: string, params: object, caller: Caller) => Promise<unknown>;

export const CHAIN_STOPPED = "The chain is stopped. Start another one with startDevChain.";

/** Error code of a provider that is disconnected from its chain (EIP-1193). */
const DISCONNECTED = 4900;

/** Provider for an in-process or remote chain. */
export class ChainEthProvider implements EthProvider {
  readonly #send: Send;
  readonly #closedReason: string;
  #isClosed = false;
  readonly #events = new EventEmitter();
  /** Functions that end subscriptions, by id. */
  readonly #subscriptions = new Map<string, () => void>();
  readonly #caller: Caller = {
    subscribe: (feed) => this.#subscribe(feed),
    unsubscribe: (id) => this.#unsubscribe(id),
    denialReason: () => undefined,
  };

  /** `closedReason` is the error message for requests after `close`. */
  constructor(send: Send, closedReason: string) {
    this.#send = send;
    this.#closedReason = closedReason;
    // Tests may add more than ten listeners.
    this.#events.setMaxListeners(0);
  }

  async request<Result = unknown>({ method, params = [] }: EthRequest): Promise<Result> {
    if (this.#isClosed) throw disconnectedError(this.#closedReason);
    return (await this.#send(method, params, this.#caller)) as Result;
  }

  on<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this {
    this.#events.on(event, listener);
    // The provider is connected from the start.
    if (event === "connect") void this.#announce(listener as (...args: EthEvents["connect"]) => void);
    return this;
  }

  removeListener<Event extends keyof EthEvents>(event: Event, listener: (...args: EthEvents[Event]) => void): this {
    this.#events.removeListener(event, listener);
    return this;
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const id of [...this.#subscriptions.keys()]) this.#unsubscribe(id);
    this.#isClosed = true;
    this.#events.emit("disconnect", disconnectedError(this.#closedReason));
    this.#events.removeAllListeners();
  }

  async #announce(listener: (...args: EthEvents["connect"]) => void): Promise<void> {
    const chainId = await this.request<string>({ method: "eth_chainId" }).catch(() => undefined);
    if (chainId !== undefined && this.#events.listeners("connect").includes(listener)) listener({ chainId });
  }

  #subscribe(feed: Feed): string {
    const subscription = `0x${randomBytes(8).toString("hex")}`;
    const end = feed.open({
      // Delivered asynchronously, so a listener can neither block the node nor make it fail.
      deliver: ({ data }) =>
        queueMicrotask(() => {
          if (!this.#subscriptions.has(subscription)) return;
          const message: EthMessage = {
            type: "eth_subscription",
            data: { subscription, result: JSON.parse(data.toString()) },
          };
          this.#events.emit("message", message);
        }),
      disconnect: () => {
        this.#subscriptions.delete(subscription);
        this.#events.emit("disconnect", disconnectedError(OVERLOAD_MESSAGE));
      },
    });
    this.#subscriptions.set(subscription, end);
    return subscription;
  }

  #unsubscribe(id: string): boolean {
    this.#subscriptions.get(id)?.();
    return this.#subscriptions.delete(id);
  }
}

function disconnectedError(message: string): Error & { code: number } {
  return Object.assign(new Error(message), { code: DISCONNECTED });
}
