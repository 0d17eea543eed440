import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD } from "@lodestar/params";
import { type CachedBeaconStateAltair, computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { invalidParams, unavailable, unsupported } from "../../failure.ts";
import { stateForDuties } from "./duty-state.ts";
import { shown } from "./shown-number.ts";

/** Refuses what has to do with sync committees on a chain that never gets any. */
export function requireSyncCommittees({ config }: Pick<BeaconChain, "config">): void {
  if (config.ALTAIR_FORK_EPOCH === Number.POSITIVE_INFINITY) {
    throw unsupported("This chain has no sync committees: no altair fork is scheduled.");
  }
}

/** A state that knows the sync committee of the epoch: its own period's, or the next one's. */
export async function stateForSyncCommittee(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateAltair> {
  requireSyncCommittees(chain);
  if (epoch < chain.config.ALTAIR_FORK_EPOCH) {
    throw invalidParams(`There are no sync committees in epoch ${epoch}, which comes before the altair fork.`);
  }
  const currentEpoch = Math.max(chain.clock.currentEpoch, computeEpochAtSlot(chain.head.slot));
  const period = (e: Epoch) => Math.floor(e / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  if (period(epoch) > period(currentEpoch) + 1) {
    throw invalidParams(
      `The sync committee of epoch ${shown(epoch)} is not known yet: the current epoch is ${currentEpoch}.`,
    );
  }
  const state = await stateForDuties(chain, Math.min(epoch, currentEpoch));
  if (!("currentSyncCommittee" in state)) {
    throw unavailable(`The sync committee of epoch ${epoch} is not known before the altair fork.`);
  }
  return state as CachedBeaconStateAltair;
}
