import type { SecretKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";

/** Secret keys, by index, of the validators run by this node. */
export interface ValidatorKeys {
  readonly indices: readonly ValidatorIndex[];
  /** Returns undefined for validators not run by this node. */
  secretKey(index: ValidatorIndex): SecretKey | undefined;
}

/**
 * Keys of a dev chain's genesis validators, derived on first use and cached. Public keys are cached separately, since
 * each costs a curve multiplication.
 */
export class DevKeys implements ValidatorKeys {
  readonly indices: readonly ValidatorIndex[];
  readonly #derive: (index: ValidatorIndex) => SecretKey;
  readonly #secretKeys: (SecretKey | undefined)[];
  readonly #publicKeys: (Uint8Array | undefined)[];

  constructor(count: number, derive: (index: ValidatorIndex) => SecretKey) {
    this.indices = Array.from({ length: count }, (_, index) => index);
    this.#derive = derive;
    this.#secretKeys = new Array(count);
    this.#publicKeys = new Array(count);
  }

  get count(): number {
    return this.indices.length;
  }

  secretKey(index: ValidatorIndex): SecretKey | undefined {
    if (!(index in this.indices)) return undefined;
    this.#secretKeys[index] ??= this.#derive(index);
    return this.#secretKeys[index];
  }

  /** Derives the key of a validator added after genesis. */
  deriveSecretKey(index: ValidatorIndex): SecretKey {
    return this.#derive(index);
  }

  /** Returns the 48-byte compressed public key. */
  publicKey(index: ValidatorIndex): Uint8Array | undefined {
    this.#publicKeys[index] ??= this.secretKey(index)?.toPublicKey().toBytes();
    return this.#publicKeys[index];
  }
}

/** Restricts keys to the active validators. */
export function selectKeys(keys: ValidatorKeys, active: readonly ValidatorIndex[]): ValidatorKeys {
  const chosen = new Set(active);
  return {
    indices: keys.indices.filter((index) => chosen.has(index)),
    secretKey: (index) => (chosen.has(index) ? keys.secretKey(index) : undefined),
  };
}
