import { setImmediate as nextTurn } from "node:timers/promises";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import { getValidatorStatus, type phase0 } from "@lodestar/types";
import { type ArrayOfElements, elementNodes } from "../ssz/tree.ts";

const STATUSES = ["pending", "active", "exited", "withdrawable"] as const;

/** Validators read per turn of the event loop. */
const SLICE_LENGTH = 256;

type Counts = Record<(typeof STATUSES)[number], number>;

/** Counts validators by status. Cached per epoch, because statuses change only between epochs. */
export class ValidatorCounts {
  #epoch: number | undefined;
  #counts: Promise<Counts> | undefined;

  of(state: CachedBeaconStateAllForks): Promise<Counts> {
    const epoch = computeEpochAtSlot(state.slot);
    if (this.#counts === undefined || epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#counts = count(state, epoch);
    }
    return this.#counts;
  }
}

async function count(state: CachedBeaconStateAllForks, epoch: number): Promise<Counts> {
  const counts: Counts = { pending: 0, active: 0, exited: 0, withdrawable: 0 };
  for (const validators of validatorSlices(state)) {
    for (const validator of validators) {
      const status = getValidatorStatus(validator, epoch);
      // Covers withdrawal_possible and withdrawal_done.
      counts[STATUSES.find((general) => status.startsWith(general)) ?? "withdrawable"]++;
    }
    await nextTurn();
  }
  return counts;
}

/** Reads from the immutable tree, so all slices belong to the same version of the state. */
function* validatorSlices(state: CachedBeaconStateAllForks): Generator<phase0.Validator[], void, undefined> {
  state.commit();
  const { type, node } = state.validators;
  let slice: phase0.Validator[] = [];
  for (const element of elementNodes(type as unknown as ArrayOfElements, node)) {
    slice.push(type.elementType.tree_toValue(element));
    if (slice.length < SLICE_LENGTH) continue;
    yield slice;
    slice = [];
  }
  yield slice;
}
