import type { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../async/time-slice.ts";
import { KeyIndex } from "./key-index.ts";
import { isCompressed, isSameKey, KeyMemory } from "./key-memory.ts";
import { BadPubkeyError, readKey } from "./read-key.ts";

/** After how many keys it is asked whether others are to have their turn. */
const KEYS_BETWEEN_BREATHS = 1024;

/** The public keys of validators, in both directions, without an object for each of them. */
export class FlatPubkeys implements PubkeyCache {
  readonly memory = new KeyMemory();
  readonly #index = new KeyIndex(this.memory);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(index: ValidatorIndex): PublicKey | undefined {
    return index < this.#size ? readKey(index, this.memory.read(index)) : undefined;
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    const pubkey = this.get(index);
    if (!pubkey) throw new Error(`There is no validator ${index} whose public key could be known.`);
    return pubkey;
  }

  getIndex(compressed: Uint8Array): ValidatorIndex | null {
    return this.#index.find(compressed);
  }

  /** Whoever tells of a validator has verified its key: here it is only decompressed. */
  set(index: ValidatorIndex, compressed: Uint8Array): void {
    if (index > this.#size) {
      throw new RangeError(`The public key of validator ${this.#size} has to be known before that of ${index}.`);
    }
    this.memory.reserve(index + 1);
    const place = this.memory.at(index);
    // The same deposit is processed once on each branch, and when a block is produced.
    if (index === this.#size || !isSameKey(place, compressed)) place.set(readKey(index, compressed).toBytes(false));
    this.#index.add(index);
    this.#size = Math.max(this.#size, index + 1);
  }

  /** Takes up the keys of all validators that are not known yet, compressed as they are. What looks like no key is refused. */
  async takeUp(validators: readonly { pubkey: Uint8Array }[], signal?: AbortSignal): Promise<void> {
    const bad = validators.findIndex(({ pubkey }, index) => index >= this.#size && !isCompressed(pubkey));
    if (bad >= 0) throw new BadPubkeyError(bad, validators[bad]!.pubkey);
    this.memory.reserve(validators.length);
    this.#index.reserve(validators.length);
    const slice = new TimeSlice();
    while (this.#size < validators.length) {
      signal?.throwIfAborted();
      const end = Math.min(validators.length, this.#size + KEYS_BETWEEN_BREATHS);
      while (this.#size < end) {
        this.memory.at(this.#size).set(validators[this.#size]!.pubkey);
        this.#index.add(this.#size++);
      }
      await slice.yieldIfDue();
    }
  }

  /** Goes back to when there were only so many validators. */
  truncate(size: number): void {
    if (size >= this.#size) return;
    this.#index.truncate(size);
    this.#size = size;
  }
}
