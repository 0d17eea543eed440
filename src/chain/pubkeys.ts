import type { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { PubkeyHex, ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";

/** Keys that may be known to several who tell of them. */
interface KnownKeys {
  readonly cache: PubkeyCache;
  size: number;
  /** Keys of which the cache still tells an index, although they are not registered. */
  readonly forgotten: Set<PubkeyHex>;
}

export interface PubkeysMoment {
  known: KnownKeys;
  size: number;
}

/**
 * The public keys of all validators, for all states of a chain. The cache within takes a key that was once registered to stay
 * so; this one can go back to when there were fewer validators, after whom other ones may come in the places of the later ones.
 */
export class Pubkeys implements PubkeyCache {
  #known: KnownKeys;

  constructor(cache: PubkeyCache) {
    this.#known = { cache, size: cache.size, forgotten: new Set() };
  }

  get size(): number {
    return this.#known.size;
  }

  get(index: ValidatorIndex): PublicKey | undefined {
    const { cache, size } = this.#known;
    return index < size ? cache.get(index) : undefined;
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    const pubkey = this.get(index);
    if (!pubkey) throw new Error(`There is no validator ${index} whose public key could be known.`);
    return pubkey;
  }

  getIndex(pubkey: Uint8Array): ValidatorIndex | null {
    const { cache, forgotten } = this.#known;
    return forgotten.size > 0 && forgotten.has(toPubkeyHex(pubkey)) ? null : cache.getIndex(pubkey);
  }

  set(index: ValidatorIndex, pubkey: Uint8Array): void {
    const known = this.#known;
    known.cache.set(index, pubkey);
    known.size = Math.max(known.size, index + 1);
    if (known.forgotten.size > 0) known.forgotten.delete(toPubkeyHex(pubkey));
  }

  capture(): PubkeysMoment {
    return { known: this.#known, size: this.#known.size };
  }

  /** Knows from now on what was known at a moment, here or to another one, and the same as that one. */
  restore({ known, size }: PubkeysMoment): void {
    for (let index = size; index < known.size; index++) {
      const pubkey = known.cache.get(index);
      if (pubkey) known.forgotten.add(toPubkeyHex(pubkey.toBytes()));
    }
    known.size = size;
    this.#known = known;
  }
}
