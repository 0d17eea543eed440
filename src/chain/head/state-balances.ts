import { type CachedBeaconStateAllForks, getEffectiveBalanceIncrementsZeroInactive } from "@lodestar/state-transition";

/** Balances of a state in increments of 1 ETH, without the checkpoint that they are of. */
export interface StateBalances {
  /** Effective balances; zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Total active balance including slashed validators. */
  totalActive: number;
  /** Effective balances of all validators, including inactive and slashed ones. */
  effectiveBalances: Uint16Array;
  /** Active validators, including slashed ones, in ascending order. */
  activeIndices: Uint32Array;
}

/** Takes a pass over the validator registry. */
export function balancesOf(state: CachedBeaconStateAllForks): StateBalances {
  const { totalActiveBalanceIncrements, effectiveBalanceIncrements, currentShuffling } = state.epochCtx;
  return {
    balances: getEffectiveBalanceIncrementsZeroInactive(state),
    totalActive: totalActiveBalanceIncrements,
    effectiveBalances: effectiveBalanceIncrements,
    activeIndices: currentShuffling.activeIndices,
  };
}
