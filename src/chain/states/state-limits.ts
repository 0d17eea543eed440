/** Maximum number of states cached by `StateStore`, by kind. */
export interface StateStoreLimits {
  /** Post-states of recent blocks. */
  blockStates: number;
  /** Block states advanced to a slot: checkpoint states and pre-states of upcoming blocks. */
  advancedStates: number;
  /** Requested states far behind the head. */
  historicalStates: number;
  /** States from the latest historical replay, two per block: before and after the block. */
  replayedStates: number;
}

const DEFAULT_STATE_LIMITS: StateStoreLimits = {
  blockStates: 64,
  advancedStates: 16,
  historicalStates: 4,
  replayedStates: 64,
};

/**
 * Above this number of validators, fewer historical states are cached, because they share few nodes with other states.
 */
const MANY_VALIDATORS = 250_000;
const LEAST_HISTORICAL_STATES = 1;
const LEAST_REPLAYED_STATES = 16;

/** Returns cache limits for the given number of validators. */
export function stateLimitsFor(validators: number): StateStoreLimits {
  const { historicalStates, replayedStates, ...recent } = DEFAULT_STATE_LIMITS;
  const share = Math.min(1, MANY_VALIDATORS / validators);
  return {
    ...recent,
    historicalStates: Math.max(LEAST_HISTORICAL_STATES, Math.floor(historicalStates * share)),
    replayedStates: Math.max(LEAST_REPLAYED_STATES, Math.floor(replayedStates * share)),
  };
}
