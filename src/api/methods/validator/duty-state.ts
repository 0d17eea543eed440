import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkName } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { invalidParams, notFound, unavailable } from "../../../errors/failure.ts";
import { requireForkAt } from "../../preconditions.ts";

/** MAXIMUM_GOSSIP_CLOCK_DISPARITY from the p2p specification. */
const CLOCK_DISPARITY_MS = 500;

/** Returns the last epoch whose committees are known. Tolerates clients whose clocks run slightly fast. */
export function lastKnownEpoch({ clock }: BeaconChain): Epoch {
  return computeEpochAtSlot(clock.currentSlotWithTolerance(CLOCK_DISPARITY_MS)) + 1;
}

/** Throws if the duties of the epoch are not known yet. */
export function requireKnownEpoch(chain: BeaconChain, epoch: Epoch): void {
  const lastEpoch = lastKnownEpoch(chain);
  if (epoch > lastEpoch) {
    throw invalidParams(`Duties of epoch ${epoch} are not known yet: the last known epoch is ${lastEpoch}.`);
  }
}

/** Returns a state on the head's chain that determines the committees and proposers of the epoch. */
export async function stateForDuties(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateAllForks> {
  const { head, headState, clock, states } = chain;
  const headEpoch = computeEpochAtSlot(head.slot);
  if (epoch === headEpoch) return headState;
  if (epoch < headEpoch) {
    const state = await states.canonicalAtSlot(computeStartSlotAtEpoch(epoch));
    if (!state) throw notFound(`The node has no state of epoch ${epoch}.`);
    return state;
  }
  // An epoch that has started has a state of its own. The next epoch is determined by the state of the epoch before it.
  const startedEpoch = Math.min(epoch, Math.max(headEpoch, clock.currentEpoch));
  const stateEpoch = startedEpoch === epoch ? epoch : epoch - 1;
  return stateEpoch === headEpoch ? headState : states.afterBlock(head.root, computeStartSlotAtEpoch(stateEpoch));
}

/** Returns a state that contains the epoch's sync committee, either as the current one or as the next one. */
export async function stateForSyncCommittee(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateAltair> {
  requireForkAt(chain.config, ForkName.altair, computeStartSlotAtEpoch(epoch), "Sync committees");
  const currentEpoch = Math.max(chain.clock.currentEpoch, computeEpochAtSlot(chain.head.slot));
  const period = (e: Epoch) => Math.floor(e / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  if (period(epoch) > period(currentEpoch) + 1) {
    throw invalidParams(`The sync committee of epoch ${epoch} is not known yet: the current epoch is ${currentEpoch}.`);
  }
  const state = await stateForDuties(chain, Math.min(epoch, currentEpoch));
  if (!("currentSyncCommittee" in state)) {
    throw unavailable(`The sync committee of epoch ${epoch} is unknown until the altair fork.`);
  }
  return state as CachedBeaconStateAltair;
}
