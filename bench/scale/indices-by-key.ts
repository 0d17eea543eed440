import type { PublicKey } from "@chainsafe/blst";
import type { PubkeyCache } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { KEY_BYTES } from "./validator-keys.ts";

/** Public key cache without decompressed keys, for a state transition that verifies no signatures. */
export class IndicesByKey implements PubkeyCache {
  readonly #indices = new Map<string, ValidatorIndex>();

  constructor(keys: Uint8Array) {
    for (let index = 0; index < keys.length / KEY_BYTES; index++) {
      this.set(index, keys.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES));
    }
  }

  get size(): number {
    return this.#indices.size;
  }

  get(): undefined {
    return undefined;
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    throw new Error(`The public key of validator ${index} is not decompressed.`);
  }

  getIndex(key: Uint8Array): ValidatorIndex | null {
    return this.#indices.get(toPubkeyHex(key)) ?? null;
  }

  set(index: ValidatorIndex, key: Uint8Array): void {
    this.#indices.set(toPubkeyHex(key), index);
  }
}
