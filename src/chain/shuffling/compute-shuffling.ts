import {
  type CachedBeaconStateAllForks,
  computeEpochShufflingAsync,
  type EpochShuffling,
} from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import { SingleFlight } from "../../async/single-flight.ts";
import { LruMap } from "../../collections/lru-map.ts";
import { forEachValidator } from "../states/each-validator.ts";

/** With a million validators, a shuffling takes about 8 MB. */
const KEPT_FOR_A_STATE = 2;

interface OfState {
  cache: LruMap<Epoch, EpochShuffling>;
  underway: SingleFlight<Epoch, EpochShuffling>;
}

/** Keyed by the root node of the state's tree. */
const shufflingsByNode = new WeakMap<CachedBeaconStateAllForks["node"], OfState>();

/**
 * Returns the shuffling of an epoch that is not in the epoch cache but whose seed is still in the state. Takes about a
 * second with a million validators. Runs in time slices on the thread pool; concurrent callers share the result.
 */
export async function computeShuffling(
  state: CachedBeaconStateAllForks,
  epoch: Epoch,
  signal: AbortSignal | undefined,
): Promise<EpochShuffling> {
  const { cache, underway } = ofState(state);
  return (
    cache.get(epoch) ??
    underway.run(epoch, signal, async (throwIfAborted) => {
      const shuffling = await computeEpochShufflingAsync(
        state,
        await activeIndices(state, epoch, throwIfAborted),
        epoch,
      );
      cache.set(epoch, shuffling);
      return shuffling;
    })
  );
}

function ofState({ node }: CachedBeaconStateAllForks): OfState {
  let shufflings = shufflingsByNode.get(node);
  if (shufflings === undefined) {
    shufflings = { cache: new LruMap(KEPT_FOR_A_STATE), underway: new SingleFlight() };
    shufflingsByNode.set(node, shufflings);
  }
  return shufflings;
}

async function activeIndices(
  state: CachedBeaconStateAllForks,
  epoch: Epoch,
  throwIfAborted: () => void,
): Promise<Uint32Array> {
  const indices = new Uint32Array(state.validators.length);
  let count = 0;
  const visit = ({ activationEpoch, exitEpoch }: { activationEpoch: Epoch; exitEpoch: Epoch }, index: number) => {
    if (activationEpoch <= epoch && epoch < exitEpoch) indices[count++] = index;
  };
  await forEachValidator(state, visit, throwIfAborted);
  return indices.slice(0, count);
}
