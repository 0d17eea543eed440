import { ControlError, type EvmControl } from "../../api/dev-control.ts";
import type { EvmControl as RemoteControl } from "../../evm/engine/evm-control.ts";
import type { Change } from "../../evm/overrides/override.ts";
import type { Remote } from "../../evm/thread/evm-thread.ts";
import type { Automine } from "./automine.ts";

interface DevEvmControlParts {
  control: Remote<RemoteControl>;
  automine: Automine;
  setFeeRecipient(address: Uint8Array): void;
  /** True if other nodes can follow the chain (`--p2p`). */
  hasNetwork: boolean;
}

/** Controls the EVM of a dev chain. */
export class DevEvmControl implements EvmControl {
  readonly #parts: DevEvmControlParts;

  constructor(parts: DevEvmControlParts) {
    this.#parts = parts;
  }

  get automine(): boolean {
    return this.#parts.automine.isEnabled;
  }

  set automine(isEnabled: boolean) {
    this.#parts.automine.isEnabled = isEnabled;
  }

  async override(change: Change): Promise<void> {
    this.#requireNoNetwork();
    await this.#parts.control.override(change);
  }

  async setImpersonated(address: Uint8Array, isImpersonated: boolean): Promise<void> {
    this.#requireNoNetwork();
    await this.#parts.control.setImpersonated(address, isImpersonated);
  }

  async setImpersonatesAll(impersonatesAll: boolean): Promise<void> {
    this.#requireNoNetwork();
    await this.#parts.control.setImpersonatesAll(impersonatesAll);
  }

  setFeeRecipient(address: Uint8Array): void {
    this.#parts.setFeeRecipient(address);
  }

  dropTransaction(hash: Uint8Array): Promise<boolean> {
    return this.#parts.control.dropTransaction(hash);
  }

  dropTransactions(sender?: Uint8Array): Promise<void> {
    return this.#parts.control.dropTransactions(sender);
  }

  #requireNoNetwork(): void {
    if (!this.#parts.hasNetwork) return;
    throw ControlError.unsupported(
      "The state of this chain can only be changed by transactions: other nodes follow it (--p2p), and they could not " +
        "verify the next block. Start the chain without --p2p.",
    );
  }
}
