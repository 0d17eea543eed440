import type { Epoch, Slot, ValidatorIndex } from "@lodestar/types";
import { LruMap } from "../../collections/lru-map.ts";

/** Same as the lifetime of a proposer preparation. */
const EPOCHS_KEPT_AFTER = 2;
/** Exceeds the number of validators any operator runs on one node. */
const MAX_VALIDATORS = 200_000;

/**
 * Validators connected to this node: registered through preparations or subscriptions from validator clients, or run
 * in-process.
 */
export class AttachedValidators {
  readonly #registered = new LruMap<ValidatorIndex, Epoch>(MAX_VALIDATORS);
  readonly #listeners = new Set<() => void>();
  readonly #clock: { readonly currentSlot: Slot };
  /** In-process validators, with the slot in which they were started. */
  #own: ReadonlyMap<ValidatorIndex, Slot> = new Map();

  constructor(clock: { readonly currentSlot: Slot } = { currentSlot: 0 }) {
    this.#clock = clock;
  }

  /** Registers a validator on behalf of a validator client. */
  register(validator: ValidatorIndex, currentEpoch: Epoch): void {
    const previousEpoch = this.#registered.get(validator);
    this.#registered.set(validator, currentEpoch);
    if (previousEpoch === undefined || !isCurrent(previousEpoch, currentEpoch)) this.#notify();
  }

  /** Sets the in-process validators. */
  setOwn(validators: Iterable<ValidatorIndex>): void {
    const { currentSlot } = this.#clock;
    this.#own = new Map(Array.from(validators, (validator) => [validator, this.#own.get(validator) ?? currentSlot]));
    this.#notify();
  }

  get isEmpty(): boolean {
    return this.#own.size === 0 && this.#registered.size === 0;
  }

  has(validator: ValidatorIndex, currentEpoch: Epoch): boolean {
    if (this.#own.has(validator)) return true;
    const epoch = this.#registered.get(validator);
    return epoch !== undefined && isCurrent(epoch, currentEpoch);
  }

  /** Returns the slot in which an in-process validator was started; undefined for other validators. */
  ownSince(validator: ValidatorIndex): Slot | undefined {
    return this.#own.get(validator);
  }

  list(currentEpoch: Epoch): Set<ValidatorIndex> {
    const all = new Set(this.#own.keys());
    for (const [validator, epoch] of this.#registered.entries()) if (isCurrent(epoch, currentEpoch)) all.add(validator);
    return all;
  }

  /** Calls the listener when validators may have been added. Returns an unsubscribe function. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isCurrent(registeredIn: Epoch, currentEpoch: Epoch): boolean {
  return currentEpoch <= registeredIn + EPOCHS_KEPT_AFTER;
}
