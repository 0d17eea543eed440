import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot, computeSigningRoot } from "@lodestar/state-transition";
import { type bellatrix, type Epoch, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import type { Clock } from "../../chain/clock/clock.ts";
import { builderDomain } from "../../execution/builder/builder-domain.ts";
import { DEV_GAS_LIMIT } from "../../execution/dev-payload.ts";
import { DEV_FEE_RECIPIENT } from "../constants.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { type DutyPlan, isOnline } from "./duty-plan.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface RegisterModules {
  api: ValidatorApi;
  config: BeaconConfig;
  clock: Clock;
  keys: ValidatorKeys;
}

/**
 * Registers this node's validators with builders once per epoch (builder-specs, validator.md). Each registration is
 * signed once and reused.
 */
export class BuilderRegistration {
  readonly #modules: RegisterModules;
  readonly #signed = new Map<ValidatorIndex, bellatrix.SignedValidatorRegistrationV1>();
  #registeredIn: Epoch | undefined;

  constructor(modules: RegisterModules) {
    this.#modules = modules;
  }

  /** Registers the online validators once per epoch. */
  async update(slot: Slot, plan: DutyPlan): Promise<void> {
    const epoch = computeEpochAtSlot(slot);
    if (this.#registeredIn === epoch) return;
    const { api, keys } = this.#modules;
    const online = keys.indices.filter((index) => isOnline(plan, index));
    await api.validator.registerValidator({ registrations: online.map((index) => this.#registrationOf(index)) });
    this.#registeredIn = epoch;
  }

  #registrationOf(index: ValidatorIndex): bellatrix.SignedValidatorRegistrationV1 {
    const cached = this.#signed.get(index);
    if (cached) return cached;
    const { config, clock, keys } = this.#modules;
    const secretKey = keys.secretKey(index)!;
    const message = {
      feeRecipient: DEV_FEE_RECIPIENT,
      gasLimit: DEV_GAS_LIMIT,
      timestamp: Math.floor(clock.nowSeconds()),
      pubkey: secretKey.toPublicKey().toBytes(),
    };
    const signingRoot = computeSigningRoot(ssz.bellatrix.ValidatorRegistrationV1, message, builderDomain(config));
    const registration = { message, signature: secretKey.sign(signingRoot).toBytes() };
    this.#signed.set(index, registration);
    return registration;
  }
}
