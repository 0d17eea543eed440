import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_EPOCH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeEpochShufflingAsync,
  createCachedBeaconState,
  getActiveValidatorIndices,
} from "@lodestar/state-transition";
import type { Pubkeys } from "../pubkeys/pubkeys.ts";

/**
 * Creates a cached state with its epoch cache. Computes the shufflings, the most expensive part, on the thread pool.
 */
export async function withCaches(
  state: BeaconStateAllForks,
  caches: { config: BeaconConfig; pubkeyCache: Pubkeys },
): Promise<CachedBeaconStateAllForks> {
  await caches.pubkeyCache.learn(state.validators);
  const current = computeEpochAtSlot(state.slot);
  const epochs = [current - 1, current, current + 1].filter((epoch) => epoch >= GENESIS_EPOCH);
  const shufflings = await Promise.all(
    epochs.map((epoch) => computeEpochShufflingAsync(state, getActiveValidatorIndices(state, epoch), epoch)),
  );
  const shufflingGetter = (epoch: number) => shufflings.find((shuffling) => shuffling.epoch === epoch) ?? null;
  const cached = createCachedBeaconState(state, caches, { shufflingGetter });
  // The library sets these indices only if it computes the shuffling itself. The next sync committee is sampled from
  // them.
  cached.epochCtx.nextActiveIndices = cached.epochCtx.nextShuffling.activeIndices;
  return cached;
}
