import { BUILDER_INDEX_FLAG } from "@lodestar/params";
import { InteropKeys } from "./interop-keys.ts";
import type { DevKeys } from "./validator-keys.ts";

/**
 * Returns the keys of a dev chain's builders: the interop keys from 2^40 on, which no validator has. Withdrawals name
 * builders by the same numbers (gloas/beacon-chain.md, convert_builder_index_to_validator_index).
 */
export function builderKeys(count: number): DevKeys {
  return new InteropKeys(count, BUILDER_INDEX_FLAG);
}
