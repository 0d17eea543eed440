import type { Epoch, ValidatorIndex } from "@lodestar/types";
import { LruMap } from "../lru-map.ts";

/** As long as a preparation lasts. */
const EPOCHS_KEPT_AFTER = 2;
/** More than any operator runs on one node. */
const MAX_VALIDATORS = 200_000;

/** The validators that act through this node: those that clients prepare or subscribe for, and those that it runs itself. */
export class AttachedValidators {
  readonly #named = new LruMap<ValidatorIndex, Epoch>(MAX_VALIDATORS);
  readonly #listeners = new Set<() => void>();
  #own: ReadonlySet<ValidatorIndex> = new Set();

  /** A client acts for the validator. */
  name(validator: ValidatorIndex, currentEpoch: Epoch): void {
    const before = this.#named.get(validator);
    this.#named.set(validator, currentEpoch);
    if (before === undefined || !isCurrent(before, currentEpoch)) this.#tell();
  }

  /** The validators that the node runs itself from now on. */
  runOwn(validators: Iterable<ValidatorIndex>): void {
    this.#own = new Set(validators);
    this.#tell();
  }

  list(currentEpoch: Epoch): Set<ValidatorIndex> {
    const all = new Set(this.#own);
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
