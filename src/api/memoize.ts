import type { BeaconChain } from "../chain/chain.ts";

/** A function of what never changes about a chain, worked out once for each. */
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
