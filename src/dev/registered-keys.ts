import type { SecretKey } from "@chainsafe/blst";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import type { DevKeys, ValidatorKeys } from "./validator-keys.ts";

interface KeyPair {
  secretKey: SecretKey;
  publicKey: Uint8Array;
}

/** Maximum number of deposit keys ahead of the registry, since a counted deposit may never enter the registry. */
const KEYS_AHEAD = 16;

/**
 * Keys of the genesis validators and of validators added by a deposit with a derived key. A validator usually has the
 * key for its index. Deposits with other keys may come in between, so every derived key near the registry is
 * recognized. Validators added with a different key are not ours.
 */
export class RegisteredKeys implements ValidatorKeys {
  readonly #keys: DevKeys;
  readonly #chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> };
  readonly #keyPairs = new Map<ValidatorIndex, KeyPair>();
  /** Derived key pairs by public key, starting with the first one after genesis. */
  readonly #byPublicKey = new Map<string, KeyPair>();

  constructor(keys: DevKeys, chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> }) {
    this.#keys = keys;
    this.#chain = chain;
  }

  get indices(): readonly ValidatorIndex[] {
    const { indices, count } = this.#keys;
    const entered = this.#chain.headState.validators.length - count;
    if (entered <= 0) return indices;
    const enteredIndices = Array.from({ length: entered }, (_, n) => count + n).filter((index) =>
      this.#keyPairInRegistry(index),
    );
    return [...indices, ...enteredIndices];
  }

  secretKey(index: ValidatorIndex): SecretKey | undefined {
    return index < this.#keys.count ? this.#keys.secretKey(index) : this.#keyPairInRegistry(index)?.secretKey;
  }

  /** Returns the derived key pair for a new validator at this index. */
  keyPair(index: ValidatorIndex): KeyPair {
    let keyPair = this.#keyPairs.get(index);
    if (!keyPair) {
      const secretKey = this.#keys.deriveSecretKey(index);
      keyPair = { secretKey, publicKey: secretKey.toPublicKey().toBytes() };
      this.#keyPairs.set(index, keyPair);
    }
    return keyPair;
  }

  /** Returns the key pair of a validator that joined with one of our keys. */
  #keyPairInRegistry(index: ValidatorIndex): KeyPair | undefined {
    const { validators } = this.#chain.headState;
    if (index >= validators.length) return undefined;
    const { pubkey } = validators.getReadonly(index);
    const expected = this.keyPair(index);
    return byteArrayEquals(pubkey, expected.publicKey) ? expected : this.#find(pubkey);
  }

  #find(pubkey: Uint8Array): KeyPair | undefined {
    const { count } = this.#keys;
    const end = this.#chain.headState.validators.length + KEYS_AHEAD;
    for (let index = count + this.#byPublicKey.size; index < end; index++) {
      const keyPair = this.keyPair(index);
      this.#byPublicKey.set(toHex(keyPair.publicKey), keyPair);
    }
    return this.#byPublicKey.get(toHex(pubkey));
  }
}
