import type { SecretKey } from "@chainsafe/blst";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import type { DevKeys, ValidatorKeys } from "./validator-keys.ts";

interface KeyPair {
  secretKey: SecretKey;
  publicKey: Uint8Array;
}

/**
 * Keys of the genesis validators and of validators added by a deposit with the derived key of their index. Validators
 * added with another key are not ours.
 */
export class RegisteredKeys implements ValidatorKeys {
  readonly #keys: DevKeys;
  readonly #chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> };
  readonly #keyPairs = new Map<ValidatorIndex, KeyPair>();

  constructor(keys: DevKeys, chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> }) {
    this.#keys = keys;
    this.#chain = chain;
  }

  get indices(): readonly ValidatorIndex[] {
    const { indices, count } = this.#keys;
    const entered = this.#chain.headState.validators.length - count;
    if (entered <= 0) return indices;
    const keyPairs = Array.from({ length: entered }, (_, n) => count + n).filter((index) => this.#hasEntered(index));
    return [...indices, ...keyPairs];
  }

  secretKey(index: ValidatorIndex): SecretKey | undefined {
    if (index < this.#keys.count) return this.#keys.secretKey(index);
    return this.#hasEntered(index) ? this.keyPair(index).secretKey : undefined;
  }

  /** Returns the derived key pair for a new validator with this index. */
  keyPair(index: ValidatorIndex): KeyPair {
    let keyPair = this.#keyPairs.get(index);
    if (!keyPair) {
      const secretKey = this.#keys.deriveSecretKey(index);
      keyPair = { secretKey, publicKey: secretKey.toPublicKey().toBytes() };
      this.#keyPairs.set(index, keyPair);
    }
    return keyPair;
  }

  #hasEntered(index: ValidatorIndex): boolean {
    const { validators } = this.#chain.headState;
    return (
      index < validators.length && byteArrayEquals(validators.getReadonly(index).pubkey, this.keyPair(index).publicKey)
    );
  }
}
