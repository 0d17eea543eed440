import type { Epoch, Slot, ValidatorIndex } from "@lodestar/types";
import { LruMap } from "../lru-map.ts";

/** As long as a preparation lasts. */
const EPOCHS_KEPT_AFTER = 2;
/** More than any operator runs on one node. */
const MAX_VALIDATORS = 200_000;

/** The validators that act through this node: those that clients prepare or subscribe for, and those that it runs itself. */
export class AttachedValidators {
  readonly #named = new LruMap<ValidatorIndex, Epoch>(MAX_VALIDATORS);
  readonly #listeners = new Set<() => void>();
  readonly #clock: { readonly currentSlot: Slot };
  /** The slot in which each began to run. */
  #own: ReadonlyMap<ValidatorIndex, Slot> = new Map();

  constructor(clock: { readonly currentSlot: Slot } = { currentSlot: 0 }) {
    this.#clock = clock;
  }

  /** A client acts for the validator. */
  name(validator: ValidatorIndex, currentEpoch: Epoch): void {
    const before = this.#named.get(validator);
    this.#named.set(validator, currentEpoch);
    if (before === undefined || !isCurrent(before, currentEpoch)) this.#tell();
  }

  /** The validators that the node runs itself from now on. */
  runOwn(validators: Iterable<ValidatorIndex>): void {
    const { currentSlot } = this.#clock;
    this.#own = new Map(Array.from(validators, (validator) => [validator, this.#own.get(validator) ?? currentSlot]));
    this.#tell();
  }

  get isEmpty(): boolean {
    return this.#own.size === 0 && this.#named.size === 0;
  }

  has(validator: ValidatorIndex, currentEpoch: Epoch): boolean {
    if (this.#own.has(validator)) return true;
    const epoch = this.#named.get(validator);
    return epoch !== undefined && isCurrent(epoch, currentEpoch);
  }

  /** Returns the slot in which this node began to run the validator itself; undefined for one that it does not run. */
  ownSince(validator: ValidatorIndex): Slot | undefined {
    return this.#own.get(validator);
  }

  list(currentEpoch: Epoch): Set<ValidatorIndex> {
    const all = new Set(this.#own.keys());
    for (const [validator, epoch] of this.#named.entries()) if (isCurrent(epoch, currentEpoch)) all.add(validator);
    return all;
  }

  /** Calls the listener whenever there may be more. Returns the function that ends it. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isCurrent(namedIn: Epoch, currentEpoch: Epoch): boolean {
  return currentEpoch <= namedIn + EPOCHS_KEPT_AFTER;
}
