import type { BeaconChain } from "../chain/chain.ts";

/** Memoizes a function of a chain's constants. */
export function perChain<T>(compute: (chain: BeaconChain) => T): (chain: BeaconChain) => T {
  const known = new WeakMap<BeaconChain, T>();
  return (chain) => {
    let value = known.get(chain);
    if (value === undefined) {
      value = compute(chain);
      known.set(chain, value);
    }
    return value;
  };
}
