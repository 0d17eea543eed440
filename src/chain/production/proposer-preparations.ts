import type { bellatrix, Epoch, PubkeyHex, ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import type { Logger } from "../../log/logger.ts";
import { type ChainSettings, DEFAULT_CHAIN_SETTINGS } from "../settings.ts";
import { AttachedValidators } from "../subscriptions/attached-validators.ts";

type Registration = bellatrix.SignedValidatorRegistrationV1;
type RegistrationListener = (pubkey: PubkeyHex, registration: Registration) => void;

/** Beacon API: a preparation lasts for the epoch of the call and two more epochs. */
const EPOCHS_KEPT_AFTER = 2;
/** Exceeds the number of validators any operator runs on one node. */
const MAX_ENTRIES = 200_000;

const ZERO_ADDRESS = new Uint8Array(20);

interface FeeRecipientDefaults {
  settings: Pick<ChainSettings, "suggestedFeeRecipient">;
  logger?: Pick<Logger, "warn">;
}

interface Entry<T> {
  value: T;
  epoch: Epoch;
}

/** Fee recipients and builder registrations from validator clients, until they expire. */
export class ProposerPreparations {
  readonly #feeRecipients = new LruMap<ValidatorIndex, Entry<Uint8Array>>(MAX_ENTRIES);
  readonly #own = new Map<ValidatorIndex, Uint8Array>();
  #lastPrepared: Epoch | undefined;
  readonly #registrations = new LruMap<PubkeyHex, Entry<Registration>>(MAX_ENTRIES);
  readonly #registrationListeners = new Set<RegistrationListener>();
  readonly #attached: AttachedValidators;
  readonly #defaults: FeeRecipientDefaults;
  /** Proposers for which a warning was logged. */
  readonly #warned = new LruMap<ValidatorIndex, true>(MAX_ENTRIES);

  constructor(
    attached = new AttachedValidators(),
    defaults: FeeRecipientDefaults = { settings: DEFAULT_CHAIN_SETTINGS },
  ) {
    this.#attached = attached;
    this.#defaults = defaults;
  }

  /** Sets the in-process validators. They do not expire. Preparations from validator clients take precedence. */
  prepareOwn(validators: Iterable<ValidatorIndex>, feeRecipient: Uint8Array): void {
    this.#own.clear();
    for (const validator of validators) this.#own.set(validator, feeRecipient);
    this.#attached.setOwn(this.#own.keys());
  }

  prepare(validator: ValidatorIndex, feeRecipient: Uint8Array, currentEpoch: Epoch): void {
    this.#feeRecipients.set(validator, { value: feeRecipient, epoch: currentEpoch });
    this.#lastPrepared = currentEpoch;
    this.#attached.register(validator, currentEpoch);
  }

  /** True if any validator is prepared. */
  hasAny(currentEpoch: Epoch): boolean {
    return this.#own.size > 0 || (this.#lastPrepared !== undefined && isCurrent(this.#lastPrepared, currentEpoch));
  }

  /** Returns undefined if there is no current preparation. */
  feeRecipient(validator: ValidatorIndex, currentEpoch: Epoch): Uint8Array | undefined {
    return current(this.#feeRecipients.get(validator), currentEpoch) ?? this.#own.get(validator);
  }

  /** Falls back to the suggested fee recipient, then to the zero address, with one warning per proposer. */
  feeRecipientOrDefault(validator: ValidatorIndex, currentEpoch: Epoch, { warns }: { warns: boolean }): Uint8Array {
    const { settings, logger } = this.#defaults;
    const { suggestedFeeRecipient } = settings;
    const feeRecipient = this.feeRecipient(validator, currentEpoch) ?? suggestedFeeRecipient;
    if (feeRecipient) return feeRecipient;
    if (warns && !this.#warned.get(validator)) {
      this.#warned.set(validator, true);
      logger?.warn("Proposer has no fee recipient, using the zero address; set --suggested-fee-recipient", {
        validator,
      });
    }
    return ZERO_ADDRESS;
  }

  /** Ignores a registration that is older than the known one. */
  register(registration: Registration, currentEpoch: Epoch): void {
    const pubkey = toPubkeyHex(registration.message.pubkey);
    const previous = this.registration(pubkey, currentEpoch);
    if (previous && previous.message.timestamp > registration.message.timestamp) return;
    this.#registrations.set(pubkey, { value: registration, epoch: currentEpoch });
    for (const listener of this.#registrationListeners) listener(pubkey, registration);
  }

  registration(pubkey: PubkeyHex, currentEpoch: Epoch): Registration | undefined {
    return current(this.#registrations.get(pubkey), currentEpoch);
  }

  /** Iterates current registrations. */
  *registrations(currentEpoch: Epoch): Generator<[PubkeyHex, Registration]> {
    for (const [pubkey, entry] of this.#registrations.entries()) {
      const registration = current(entry, currentEpoch);
      if (registration) yield [pubkey, registration];
    }
  }

  /** Returns an unsubscribe function. */
  onRegistration(listener: RegistrationListener): () => void {
    this.#registrationListeners.add(listener);
    return () => this.#registrationListeners.delete(listener);
  }
}

function current<T>(entry: Entry<T> | undefined, currentEpoch: Epoch): T | undefined {
  return entry && isCurrent(entry.epoch, currentEpoch) ? entry.value : undefined;
}

function isCurrent(setIn: Epoch, currentEpoch: Epoch): boolean {
  return currentEpoch <= setIn + EPOCHS_KEPT_AFTER;
}
