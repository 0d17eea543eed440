import type { SecretKey } from "@chainsafe/blst";
import { interopSecretKey } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";

/** Secret keys by validator index; `undefined` says that the validator is not one of ours. */
export interface ValidatorKeys {
  readonly indices: readonly ValidatorIndex[];
  secretKey(index: ValidatorIndex): SecretKey | undefined;
}

/**
 * The well-known keys of the interop tests: validator `i` of every dev chain has the same key, so that any tool can sign
 * for it. Each key is derived when it is first asked for; the public key costs a curve multiplication and is therefore
 * derived apart from the secret key, and only once.
 */
export class InteropKeys implements ValidatorKeys {
  readonly indices: readonly ValidatorIndex[];
  readonly #secretKeys: (SecretKey | undefined)[];
  readonly #publicKeys: (Uint8Array | undefined)[];

  constructor(count: number) {
    this.indices = Array.from({ length: count }, (_, index) => index);
    this.#secretKeys = new Array(count);
    this.#publicKeys = new Array(count);
  }

  get count(): number {
    return this.indices.length;
  }

  secretKey(index: ValidatorIndex): SecretKey | undefined {
    if (!(index in this.indices)) return undefined;
    this.#secretKeys[index] ??= interopSecretKey(index);
    return this.#secretKeys[index];
  }

  /** The keys go on: this is the one that is next for a validator of this index which enters by a deposit. */
  secretKeyOfEntrant(index: ValidatorIndex): SecretKey {
    return interopSecretKey(index);
  }

  /** The compressed public key, 48 bytes. */
  publicKey(index: ValidatorIndex): Uint8Array | undefined {
    this.#publicKeys[index] ??= this.secretKey(index)?.toPublicKey().toBytes();
    return this.#publicKeys[index];
  }
}

/** The keys of some validators only: the others are left alone, as if somebody else ran them or nobody did. */
export function onlyKeysOf(keys: ValidatorKeys, active: readonly ValidatorIndex[]): ValidatorKeys {
  const chosen = new Set(active);
  return {
    indices: keys.indices.filter((index) => chosen.has(index)),
    secretKey: (index) => (chosen.has(index) ? keys.secretKey(index) : undefined),
  };
}
