import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { BeaconChain } from "../chain/chain.ts";

type TreeNode = CachedBeaconStateAllForks["node"];

/**
 * A function of a state's content that is worked out once for each state, and forgotten with it. It goes by the root of the
 * state's tree: that never changes, while the state itself is an object that could. The state must have no changes that are
 * not in its tree yet, and none that the chain hands out has.
 */
export function perState<T>(compute: (state: CachedBeaconStateAllForks) => T): (state: CachedBeaconStateAllForks) => T {
  const known = new WeakMap<TreeNode, { value: T }>();
  return (state) => {
    let entry = known.get(state.node);
    if (entry === undefined) {
      entry = { value: compute(state) };
      known.set(state.node, entry);
    }
    return entry.value;
  };
}

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
