import type { SecretKey } from "@chainsafe/blst";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import type { DevKeys, ValidatorKeys } from "./validator-keys.ts";

interface Entrant {
  secretKey: SecretKey;
  publicKey: Uint8Array;
}

/**
 * The keys of all validators of a chain that it has: of those that it began with, and of those that entered by a deposit
 * with the chain's key of their index. Who entered with another key is not ours.
 */
export class RegisteredKeys implements ValidatorKeys {
  readonly #keys: DevKeys;
  readonly #chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> };
  readonly #entrants = new Map<ValidatorIndex, Entrant>();

  constructor(keys: DevKeys, chain: { readonly headState: Pick<CachedBeaconStateAllForks, "validators"> }) {
    this.#keys = keys;
    this.#chain = chain;
  }

  get indices(): readonly ValidatorIndex[] {
    const { indices, count } = this.#keys;
    const entered = this.#chain.headState.validators.length - count;
    if (entered <= 0) return indices;
    const entrants = Array.from({ length: entered }, (_, n) => count + n).filter((index) => this.#hasEntered(index));
    return [...indices, ...entrants];
  }

  secretKey(index: ValidatorIndex): SecretKey | undefined {
    if (index < this.#keys.count) return this.#keys.secretKey(index);
    return this.#hasEntered(index) ? this.entrant(index).secretKey : undefined;
  }

  /** With what a validator enters that is to have this index. */
  entrant(index: ValidatorIndex): Entrant {
    let entrant = this.#entrants.get(index);
    if (!entrant) {
      const secretKey = this.#keys.secretKeyOfEntrant(index);
      entrant = { secretKey, publicKey: secretKey.toPublicKey().toBytes() };
      this.#entrants.set(index, entrant);
    }
    return entrant;
  }

  #hasEntered(index: ValidatorIndex): boolean {
    const { validators } = this.#chain.headState;
    return (
      index < validators.length && byteArrayEquals(validators.getReadonly(index).pubkey, this.entrant(index).publicKey)
    );
  }
}
