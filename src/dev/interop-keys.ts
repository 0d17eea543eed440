import { interopSecretKey } from "@lodestar/state-transition";
import { DevKeys } from "./validator-keys.ts";

/**
 * Derives the public interop test keys. Validator `i` has key `first + i`.
 */
export class InteropKeys extends DevKeys {
  constructor(count: number, first = 0) {
    super(count, (index) => interopSecretKey(first + index));
  }
}
