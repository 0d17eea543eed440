import type { bellatrix, Epoch, PubkeyHex, ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";
import { LruMap } from "../lru-map.ts";
import { AttachedValidators } from "../subscriptions/attached-validators.ts";

type Registration = bellatrix.SignedValidatorRegistrationV1;
type RegistrationListener = (pubkey: PubkeyHex, registration: Registration) => void;

/** The standard wants a preparation to last through the epoch in which it was made and two more. */
const EPOCHS_KEPT_AFTER = 2;
/** More than any operator runs on one node. */
const MAX_ENTRIES = 200_000;

const ZERO_ADDRESS = new Uint8Array(20);

interface FeeRecipientDefaults {
  /** For validators without a current preparation; by default the zero address. */
  suggestedFeeRecipient?: Uint8Array;
  logger?: Pick<Logger, "warn">;
}

interface Told<T> {
  value: T;
  epoch: Epoch;
}

/**
 * What clients told of the validators that they run, until it is too old: where the fees of their blocks go, and how they
 * are registered for builders.
 */
export class ProposerPreparations {
  readonly #feeRecipients = new LruMap<ValidatorIndex, Told<Uint8Array>>(MAX_ENTRIES);
  readonly #own = new Map<ValidatorIndex, Uint8Array>();
  #lastPrepared: Epoch | undefined;
  readonly #registrations = new LruMap<PubkeyHex, Told<Registration>>(MAX_ENTRIES);
  readonly #registrationListeners = new Set<RegistrationListener>();
  readonly #attached: AttachedValidators;
  readonly #defaults: FeeRecipientDefaults;
  /** Proposers for which the zero address was warned of. */
  readonly #warned = new LruMap<ValidatorIndex, true>(MAX_ENTRIES);

  constructor(attached = new AttachedValidators(), defaults: FeeRecipientDefaults = {}) {
    this.#attached = attached;
    this.#defaults = defaults;
  }

  /**
   * The validators that the node runs itself from now on. They need not be told of again, and what clients tell of them
   * comes first.
   */
  prepareOwn(validators: Iterable<ValidatorIndex>, feeRecipient: Uint8Array): void {
    this.#own.clear();
    for (const validator of validators) this.#own.set(validator, feeRecipient);
    this.#attached.runOwn(this.#own.keys());
  }

  prepare(validator: ValidatorIndex, feeRecipient: Uint8Array, currentEpoch: Epoch): void {
    this.#feeRecipients.set(validator, { value: feeRecipient, epoch: currentEpoch });
    this.#lastPrepared = currentEpoch;
    this.#attached.name(validator, currentEpoch);
  }

  /** Whether there is anybody whose blocks are to be prepared for. */
  hasAny(currentEpoch: Epoch): boolean {
    return this.#own.size > 0 || (this.#lastPrepared !== undefined && isCurrent(this.#lastPrepared, currentEpoch));
  }

  /** Undefined when nothing was told, or too long ago. */
  feeRecipient(validator: ValidatorIndex, currentEpoch: Epoch): Uint8Array | undefined {
    return current(this.#feeRecipients.get(validator), currentEpoch) ?? this.#own.get(validator);
  }

  /** The same, or what the operator suggested, or the zero address, which is warned of once per proposer. */
  feeRecipientOrDefault(validator: ValidatorIndex, currentEpoch: Epoch, { warns }: { warns: boolean }): Uint8Array {
    const { suggestedFeeRecipient, logger } = this.#defaults;
    const chosen = this.feeRecipient(validator, currentEpoch) ?? suggestedFeeRecipient;
    if (chosen) return chosen;
    if (warns && !this.#warned.get(validator)) {
      this.#warned.set(validator, true);
      logger?.warn(
        "Proposer has no fee recipient, so its fees go to the zero address; give --suggested-fee-recipient",
        {
          validator,
        },
      );
    }
    return ZERO_ADDRESS;
  }

  /** A registration that is older than the known one does not replace it. */
  register(registration: Registration, currentEpoch: Epoch): void {
    const pubkey = toPubkeyHex(registration.message.pubkey);
    const known = this.registration(pubkey, currentEpoch);
    if (known && known.message.timestamp > registration.message.timestamp) return;
    this.#registrations.set(pubkey, { value: registration, epoch: currentEpoch });
    for (const listener of this.#registrationListeners) listener(pubkey, registration);
  }

  registration(pubkey: PubkeyHex, currentEpoch: Epoch): Registration | undefined {
    return current(this.#registrations.get(pubkey), currentEpoch);
  }

  /** All that are not too old. */
  *registrations(currentEpoch: Epoch): Generator<[PubkeyHex, Registration]> {
    for (const [pubkey, told] of this.#registrations.entries()) {
      const registration = current(told, currentEpoch);
      if (registration) yield [pubkey, registration];
    }
  }

  /** Returns the function that ends it. */
  onRegistration(listener: RegistrationListener): () => void {
    this.#registrationListeners.add(listener);
    return () => this.#registrationListeners.delete(listener);
  }
}

function current<T>(told: Told<T> | undefined, currentEpoch: Epoch): T | undefined {
  return told && isCurrent(told.epoch, currentEpoch) ? told.value : undefined;
}

function isCurrent(toldIn: Epoch, currentEpoch: Epoch): boolean {
  return currentEpoch <= toldIn + EPOCHS_KEPT_AFTER;
}
