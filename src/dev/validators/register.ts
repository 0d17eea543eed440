import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot, computeSigningRoot } from "@lodestar/state-transition";
import { type bellatrix, type Epoch, type Slot, ssz } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";
import { builderDomain } from "../../execution/builder/builder-domain.ts";
import { DEV_GAS_LIMIT } from "../../execution/dev-payload.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { DEV_FEE_RECIPIENT } from "./fee-recipient.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface RegisterModules {
  api: ValidatorApi;
  config: BeaconConfig;
  clock: Clock;
  keys: ValidatorKeys;
}

/** Registers our validators for builders, each epoch again with what they signed the first time (builder-specs, validator.md). */
export class BuilderRegistration {
  readonly #modules: RegisterModules;
  #signed: bellatrix.SignedValidatorRegistrationV1[] | undefined;
  #registeredIn: Epoch | undefined;

  constructor(modules: RegisterModules) {
    this.#modules = modules;
  }

  async update(slot: Slot): Promise<void> {
    const epoch = computeEpochAtSlot(slot);
    if (this.#registeredIn === epoch) return;
    if (this.#signed?.length !== this.#modules.keys.indices.length) this.#signed = this.#sign();
    await this.#modules.api.validator.registerValidator({ registrations: this.#signed });
    this.#registeredIn = epoch;
  }

  #sign(): bellatrix.SignedValidatorRegistrationV1[] {
    const { config, clock, keys } = this.#modules;
    const domain = builderDomain(config);
    const timestamp = Math.floor(clock.nowSeconds());
    return keys.indices.map((index) => {
      const secretKey = keys.secretKey(index)!;
      const pubkey = secretKey.toPublicKey().toBytes();
      const message = { feeRecipient: DEV_FEE_RECIPIENT, gasLimit: DEV_GAS_LIMIT, timestamp, pubkey };
      const signingRoot = computeSigningRoot(ssz.bellatrix.ValidatorRegistrationV1, message, domain);
      return { message, signature: secretKey.sign(signingRoot).toBytes() };
    });
  }
}
