import type { BeaconChain } from "../chain/chain.ts";

/** Memoizes a function of a chain's constants. */
export function perChain<T>(compute: (chain: BeaconChain) => T): (chain: BeaconChain) => T {
  const results = new WeakMap<BeaconChain, T>();
  return (chain) => {
    let value = results.get(chain);
    if (value === undefined) {
      value = compute(chain);
      results.set(chain, value);
    }
    return value;
  };
}
