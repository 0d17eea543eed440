import type { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../async/time-slice.ts";
import { KeyIndex } from "./key-index.ts";
import { isCompressed, isSameKey, KeyMemory } from "./key-memory.ts";
import { BadPubkeyError, readKey } from "./read-key.ts";

/** Number of keys processed between checks of the time slice. */
const KEYS_PER_SLICE = 1024;

/** Two-way public key cache that needs no object per key. */
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
    if (!pubkey) throw new Error(`Unknown validator ${index}: no public key.`);
    return pubkey;
  }

  getIndex(compressed: Uint8Array): ValidatorIndex | null {
    return this.#index.find(compressed);
  }

  /** Adds a verified key, which is decompressed but not verified again. */
  set(index: ValidatorIndex, compressed: Uint8Array): void {
    if (index > this.#size) {
      throw new RangeError(`Public keys must be added in order: expected index ${this.#size}, got ${index}.`);
    }
    this.memory.reserve(index + 1);
    const stored = this.memory.at(index);
    // A deposit is processed once per branch, and again in block production.
    if (index === this.#size || !isSameKey(stored, compressed)) stored.set(readKey(index, compressed).toBytes(false));
    this.#index.add(index);
    this.#size = Math.max(this.#size, index + 1);
  }

  /** Adds the keys of all new validators, still compressed. Throws a `BadPubkeyError` for malformed keys. */
  async addAll(validators: readonly { pubkey: Uint8Array }[], signal?: AbortSignal): Promise<void> {
    const bad = validators.findIndex(({ pubkey }, index) => index >= this.#size && !isCompressed(pubkey));
    if (bad >= 0) throw new BadPubkeyError(bad, validators[bad]!.pubkey);
    this.memory.reserve(validators.length);
    this.#index.reserve(validators.length);
    const slice = new TimeSlice();
    while (this.#size < validators.length) {
      signal?.throwIfAborted();
      const end = Math.min(validators.length, this.#size + KEYS_PER_SLICE);
      while (this.#size < end) {
        this.memory.at(this.#size).set(validators[this.#size]!.pubkey);
        this.#index.add(this.#size++);
      }
      await slice.yieldIfDue();
    }
  }

  /** Drops all keys from the given index onwards. */
  truncate(size: number): void {
    if (size >= this.#size) return;
    this.#index.truncate(size);
    this.#size = size;
  }
}
