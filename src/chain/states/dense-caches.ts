import { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  isStateValidatorsNodesPopulated,
} from "@lodestar/state-transition";

/**
 * Lays out what a block's attestations look up in a state. The library remembers the parts of a list in an array, by their indices. Where
 * they are looked up here and there, as attesters are, that array is sparse, and what is in it takes ten times as long to find as after
 * the list was read as a whole. A state passes its arrays on to the one that is made of it, so that this is rarely needed.
 */
export function denseCaches(state: CachedBeaconStateAllForks): void {
  if (!isStateValidatorsNodesPopulated(state)) state.validators.forEachValue(() => {});
  if (state.epochCtx.config.getForkSeq(state.slot) >= ForkSeq.altair) {
    const { previousEpochParticipation, currentEpochParticipation } = state as CachedBeaconStateAltair;
    for (const flags of [previousEpochParticipation, currentEpochParticipation]) {
      if (!flags.cache.nodesPopulated) flags.getAll();
    }
  }
  // Only then the state itself knows of the arrays.
  state.commit();
}
