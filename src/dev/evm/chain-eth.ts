import type { BeaconChain } from "../../chain/chain.ts";
import { executionHashOf, forkchoiceState } from "../../chain/engine/forkchoice-state.ts";
import type { ChainTags } from "../../evm/eth/block-id.ts";
import { type EthArgs, type EthMethodName, type EthService, SENDING_METHODS } from "../../evm/eth/eth-service.ts";
import { CriteriaBudget } from "../../evm/eth/logs/criteria-budget.ts";
import { Filters } from "../../evm/eth/logs/filters.ts";
import type { EthSubscription } from "../../evm/eth/logs/subscription.ts";
import type { NextPayload } from "./next-payload.ts";

const TAGS = ["latest", "safe", "finalized", "nextTimestamp"] as const satisfies (keyof ChainTags)[];

/**
 * Calls the `eth_*` service with the current block tags: the head, safe and finalized blocks, and the next slot.
 */
export class ChainEth implements Pick<EthService, "call" | "subscribe" | "delivered"> {
  readonly filters: Filters = new Filters(this);
  readonly #criteria = new CriteriaBudget();
  readonly #service: EthService;
  readonly #chain: BeaconChain;
  readonly #nextPayload: Pick<NextPayload, "timestamp">;
  #tags: ChainTags | undefined;
  #afterSend: (() => Promise<void>) | undefined;

  constructor(service: EthService, chain: BeaconChain, nextPayload: Pick<NextPayload, "timestamp">) {
    this.#service = service;
    this.#chain = chain;
    this.#nextPayload = nextPayload;
    chain.events.on("head", () => this.update());
    chain.events.on("headPayload", () => this.update());
    // The next block has a different timestamp. While the clock is paused, the callers that advance it also update the
    // tags.
    chain.clock.onSlot(() => {
      if (chain.clock.isFlowing) this.update();
    });
  }

  /** Sets work to await after each call that sends a transaction. */
  afterSend(work: () => Promise<void>): void {
    this.#afterSend = work;
  }

  async call<Name extends EthMethodName>(name: Name, args: EthArgs<Name>, signal?: AbortSignal): Promise<unknown> {
    this.update();
    const result = await this.#service.call(name, args, signal);
    if (SENDING_METHODS.includes(name)) await this.#afterSend?.();
    return result;
  }

  /** Throws an `EthError` if the subscription lists too many addresses and topics. */
  checkSubscription(subscription: EthSubscription): void {
    this.#criteria.check(subscription);
  }

  /** Throws under the same conditions as `checkSubscription`. */
  subscribe(...[subscription, ...subscriber]: Parameters<EthService["subscribe"]>): () => void {
    const release = this.#criteria.take(subscription);
    this.update();
    const end = this.#service.subscribe(subscription, ...subscriber);
    return () => {
      end();
      release();
    };
  }

  delivered(): Promise<void> {
    this.update();
    return this.#service.delivered();
  }

  /** Updates the service's tags if they have changed. */
  update(): void {
    const { forkChoice, headNode } = this.#chain;
    const latest = executionHashOf(forkChoice, headNode);
    if (latest === null) return;
    const { safeBlockHash: safe, finalizedBlockHash: finalized } = forkchoiceState(forkChoice, latest);
    const tags: ChainTags = { latest, safe, finalized, nextTimestamp: this.#nextPayload.timestamp };
    const old = this.#tags;
    if (old && TAGS.every((name) => old[name] === tags[name])) return;
    this.#tags = tags;
    this.#service.setTags(tags);
  }
}
