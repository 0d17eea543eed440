import { interopSecretKey } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import recordedDeposits from "./recorded-deposits.json" with { type: "json" };
import { DevKeys } from "./validator-keys.ts";

/** The first public keys, which the default dev chain has. */
const RECORDED: readonly Uint8Array[] = recordedDeposits.map(({ pubkey }) => fromHex(pubkey));

/**
 * Derives the public interop test keys. Validator `i` has key `first + i`.
 */
export class InteropKeys extends DevKeys {
  readonly #first: number;

  constructor(count: number, first = 0) {
    super(count, (index) => interopSecretKey(first + index));
    this.#first = first;
  }

  override publicKey(index: ValidatorIndex): Uint8Array | undefined {
    const recorded = index in this.indices ? RECORDED[this.#first + index] : undefined;
    return recorded ?? super.publicKey(index);
  }
}
