import { ControlError, type EvmControl } from "../../api/dev-control.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { EvmControl as RemoteControl } from "../../evm/engine/evm-control.ts";
import type { Change } from "../../evm/overrides/override.ts";
import type { Remote } from "../../threads/remote.ts";
import type { Automine } from "./automine.ts";

export interface DevEvmControlParts {
  control: Remote<RemoteControl>;
  automine: Automine;
  clock: Pick<Clock, "isFlowing">;
  setFeeRecipient(address: Uint8Array): Promise<void>;
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
    const { automine, clock } = this.#parts;
    return automine.isEnabled && !clock.isFlowing;
  }

  set automine(isEnabled: boolean) {
    const { automine, clock, hasNetwork } = this.#parts;
    if (isEnabled && clock.isFlowing) {
      const problem = "Automine needs a paused clock: while it runs, a transaction waits for the next slot.";
      if (hasNetwork) throw ControlError.unsupported(`${problem} Start the chain without --p2p.`);
      throw ControlError.conflict(`${problem} Pause it first, with dev_pause.`);
    }
    automine.isEnabled = isEnabled;
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

  setFeeRecipient(address: Uint8Array): Promise<void> {
    return this.#parts.setFeeRecipient(address);
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
