import { interopSecretKey } from "@lodestar/state-transition";
import { DevKeys } from "./validator-keys.ts";

/**
 * The well-known keys of the interop tests, which any tool can sign with: validator `i` has key `i`, or the one that many
 * after another first key.
 */
export class InteropKeys extends DevKeys {
  constructor(count: number, first = 0) {
    super(count, (index) => interopSecretKey(first + index));
  }
}
