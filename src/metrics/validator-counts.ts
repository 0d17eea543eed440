import { setImmediate as nextTurn } from "node:timers/promises";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import { getValidatorStatus } from "@lodestar/types";
import { registrySlices } from "../api/methods/states/registry.ts";

const STATUSES = ["pending", "active", "exited", "withdrawable"] as const;

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
  for (const { validators } of registrySlices(state)) {
    for (const validator of validators) {
      const status = getValidatorStatus(validator, epoch);
      // withdrawal_possible and withdrawal_done.
      counts[STATUSES.find((general) => status.startsWith(general)) ?? "withdrawable"]++;
    }
    await nextTurn();
  }
  return counts;
}
