import type { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { PubkeyHex, ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";

/**
 * The public keys of all validators, for all states of a chain. The cache within takes a key that was once registered to stay
 * so; this one can forget the newest validators again, after whose registration other ones may come in their places.
 */
export class Pubkeys implements PubkeyCache {
  readonly #cache: PubkeyCache;
  #size: number;
  /** Keys of which the cache within still tells an index, although they are not registered. */
  readonly #forgotten = new Set<PubkeyHex>();

  constructor(cache: PubkeyCache) {
    this.#cache = cache;
    this.#size = cache.size;
  }

  get size(): number {
    return this.#size;
  }

  get(index: ValidatorIndex): PublicKey | undefined {
    return index < this.#size ? this.#cache.get(index) : undefined;
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    const pubkey = this.get(index);
    if (!pubkey) throw new Error(`There is no validator ${index} whose public key could be known.`);
    return pubkey;
  }

  getIndex(pubkey: Uint8Array): ValidatorIndex | null {
    if (this.#forgotten.size > 0 && this.#forgotten.has(toPubkeyHex(pubkey))) return null;
    return this.#cache.getIndex(pubkey);
  }

  set(index: ValidatorIndex, pubkey: Uint8Array): void {
    this.#cache.set(index, pubkey);
    this.#size = Math.max(this.#size, index + 1);
    if (this.#forgotten.size > 0) this.#forgotten.delete(toPubkeyHex(pubkey));
  }

  /** Forgets the validators from that index on. */
  truncate(size: number): void {
    for (let index = size; index < this.#size; index++) {
      this.#forgotten.add(toPubkeyHex(this.#cache.getOrThrow(index).toBytes()));
    }
    this.#size = Math.min(this.#size, size);
  }
}
