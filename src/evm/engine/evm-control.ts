import { toHex } from "../execution/payload.ts";
import type { Change } from "../overrides/override.ts";
import type { EvmEngine } from "./evm-engine.ts";

/** Changes state outside of transactions, on behalf of the `anvil_*` methods. */
export class EvmControl {
  readonly #engine: EvmEngine;

  constructor(engine: EvmEngine) {
    this.#engine = engine;
  }

  override(change: Change): Promise<void> {
    return this.#engine.override(change);
  }

  setImpersonated(address: Uint8Array, isImpersonated: boolean): Promise<void> {
    const { overrides } = this.#engine;
    overrides.setImpersonated(address, isImpersonated);
    return overrides.save();
  }

  setImpersonatesAll(impersonatesAll: boolean): Promise<void> {
    const { overrides } = this.#engine;
    overrides.setImpersonatesAll(impersonatesAll);
    return overrides.save();
  }

  /** Returns false if the transaction is not in the pool. */
  async dropTransaction(hash: Uint8Array): Promise<boolean> {
    return (await this.#engine.dropped.drop([hash])) > 0;
  }

  /** Drops all transactions, or only those from one sender. */
  async dropTransactions(sender?: Uint8Array): Promise<void> {
    const bySender = [...this.#engine.pool.content()];
    const dropped = sender === undefined ? bySender : bySender.filter(([address]) => address === toHex(sender));
    const hashes = dropped.flatMap(([, { pending, queued }]) =>
      [...pending, ...queued].map(({ transaction }) => transaction.hash),
    );
    await this.#engine.dropped.drop(hashes);
  }

  /** Returns the number of transactions that the next block can include. */
  executableCount(): number {
    return [...this.#engine.executable()].length;
  }
}
