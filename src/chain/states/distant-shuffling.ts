import {
  type CachedBeaconStateAllForks,
  computeEpochShufflingAsync,
  type EpochShuffling,
} from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import { SingleFlight } from "../../async/single-flight.ts";
import { LruMap } from "../lru-map.ts";
import { forEachValidator } from "./each-validator.ts";

/** Of a million validators, one takes some 8 MB. */
const KEPT_FOR_A_STATE = 2;

interface OfState {
  kept: LruMap<Epoch, EpochShuffling>;
  underway: SingleFlight<Epoch, EpochShuffling>;
}

/** By the root of the state's tree. */
const known = new WeakMap<CachedBeaconStateAllForks["node"], OfState>();

/**
 * The committees of an epoch of which a state still has the randomness, but which are not among those at hand. Of a million
 * validators it takes a second to work them out: in slices and in a thread, and once for all who ask meanwhile.
 */
export async function distantShuffling(
  state: CachedBeaconStateAllForks,
  epoch: Epoch,
  signal: AbortSignal | undefined,
): Promise<EpochShuffling> {
  const { kept, underway } = ofState(state);
  return (
    kept.get(epoch) ??
    underway.run(epoch, signal, async (throwIfAborted) => {
      const shuffling = await computeEpochShufflingAsync(
        state,
        await activeIndices(state, epoch, throwIfAborted),
        epoch,
      );
      kept.set(epoch, shuffling);
      return shuffling;
    })
  );
}

function ofState({ node }: CachedBeaconStateAllForks): OfState {
  let found = known.get(node);
  if (found === undefined) {
    found = { kept: new LruMap(KEPT_FOR_A_STATE), underway: new SingleFlight() };
    known.set(node, found);
  }
  return found;
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
