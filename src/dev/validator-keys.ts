import type { SecretKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";

/** Secret keys by validator index; `undefined` says that the validator is not one of ours. */
export interface ValidatorKeys {
  readonly indices: readonly ValidatorIndex[];
  secretKey(index: ValidatorIndex): SecretKey | undefined;
}

/**
 * The keys of all validators that a dev chain begins with. Each key is derived when it is first asked for; the public key
 * costs a curve multiplication and is therefore derived apart from the secret key, and only once.
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
