import { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { ForeseenError } from "../foreseen-error.ts";
import { TimeSlice } from "../time-slice.ts";
import { KeyIndex } from "./key-index.ts";
import { isSameKey, KeyMemory } from "./key-memory.ts";

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
    return index < this.#size ? PublicKey.fromBytes(this.memory.at(index)) : undefined;
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
    if (index === this.#size || !isSameKey(place, compressed)) place.set(decompress(index, compressed));
    this.#index.add(index);
    this.#size = Math.max(this.#size, index + 1);
  }

  /** Takes up the keys that were put into the memory, up to a number of them. */
  async takeUp(size: number): Promise<void> {
    const slice = new TimeSlice();
    this.#index.reserve(size);
    while (this.#size < size) {
      const end = Math.min(size, this.#size + KEYS_BETWEEN_BREATHS);
      while (this.#size < end) this.#index.add(this.#size++);
      await slice.breathe();
    }
  }

  /** Goes back to when there were only so many validators. */
  truncate(size: number): void {
    if (size >= this.#size) return;
    this.#index.truncate(size);
    this.#size = size;
  }
}

function decompress(index: ValidatorIndex, compressed: Uint8Array): Uint8Array {
  try {
    return PublicKey.fromBytes(compressed).toBytes(false);
  } catch {
    throw new BadPubkeyError(index, compressed);
  }
}

/** What is registered for a validator is no public key. No transition leads to a state with such a validator. */
export class BadPubkeyError extends ForeseenError {
  constructor(index: ValidatorIndex, compressed: Uint8Array) {
    const key = `0x${Buffer.from(compressed).toString("hex")}`;
    super(`the public key ${key} of validator ${index} is not a point of the curve`);
  }
}
