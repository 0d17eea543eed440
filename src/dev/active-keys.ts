import type { ValidatorIndex } from "@lodestar/types";
import type { ValidatorKeys } from "./interop-keys.ts";

/** The keys of some validators only: the others are left alone, as if somebody else ran them or nobody did. */
export function onlyKeysOf(keys: ValidatorKeys, active: readonly ValidatorIndex[]): ValidatorKeys {
  const chosen = new Set(active);
  return {
    indices: keys.indices.filter((index) => chosen.has(index)),
    secretKey: (index) => (chosen.has(index) ? keys.secretKey(index) : undefined),
  };
}
