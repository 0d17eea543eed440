import { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  isStateValidatorsNodesPopulated,
} from "@lodestar/state-transition";

/**
 * Populates the view caches that attestation processing reads. The library caches list elements in an array by index.
 * Random access leaves that array sparse, which makes lookups ten times slower. A state passes its arrays on to its
 * successor, so this is rarely needed. Progressive lists do not: their caches end with a commit.
 */
export function populateViewCaches(state: CachedBeaconStateAllForks): void {
  const fork = state.epochCtx.config.getForkSeq(state.slot);
  if (fork >= ForkSeq.gloas) return;
  if (!isStateValidatorsNodesPopulated(state)) state.validators.forEachValue(() => {});
  if (fork >= ForkSeq.altair) {
    const { previousEpochParticipation, currentEpochParticipation } = state as CachedBeaconStateAltair;
    for (const flags of [previousEpochParticipation, currentEpochParticipation]) {
      if (!flags.cache.nodesPopulated) flags.getAll();
    }
  }
  // Commits the caches to the state.
  state.commit();
}
