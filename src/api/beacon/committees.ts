import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import {
  EPOCHS_PER_HISTORICAL_VECTOR,
  MAX_COMMITTEES_PER_SLOT,
  MIN_SEED_LOOKAHEAD,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeEpochShufflingAsync,
  computeStartSlotAtEpoch,
  type EpochShuffling,
  getActiveValidatorIndices,
} from "@lodestar/state-transition";
import type { CommitteeIndex, Epoch, Slot } from "@lodestar/types";
import { invalidParams, notFound } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { resolveState } from "../identifiers.ts";
import { metaOf } from "./states.ts";
import type { SlicedList } from "./validators.ts";

type CommitteeResponse = routes.beacon.state.EpochCommitteeResponse;

export type CommitteesApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "getEpochCommittees">;

export interface CommitteesQuery {
  stateId: routes.beacon.StateId;
  /** By default the state's. */
  epoch?: Epoch;
  index?: CommitteeIndex;
  slot?: Slot;
}

export function createCommitteesApi(chain: ChainView): CommitteesApi {
  return {
    async getEpochCommittees(query) {
      const { slices, resolved } = await listCommittees(chain, query);
      return { data: Array.from(slices).flat(), meta: metaOf(resolved) };
    },
  };
}

/** One slice for each slot. */
export async function listCommittees(
  chain: ChainView,
  { stateId, epoch: givenEpoch, index, slot }: CommitteesQuery,
): Promise<SlicedList<CommitteeResponse>> {
  if (index !== undefined && index >= MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(`There is no committee ${index}: a slot has at most ${MAX_COMMITTEES_PER_SLOT} committees.`);
  }
  const resolved = await resolveState(chain, stateId);
  const stateEpoch = computeEpochAtSlot(resolved.state.slot);
  const epoch = givenEpoch ?? stateEpoch;
  refuseUnknownEpoch(epoch, stateEpoch);
  if (slot !== undefined && computeEpochAtSlot(slot) !== epoch) {
    throw invalidParams(`Slot ${slot} is not in epoch ${epoch}, whose committees are asked for.`);
  }
  const { committees, committeesPerSlot } = await shufflingAt(chain, resolved.state, epoch);
  return {
    slices: committeeSlices(committees, computeStartSlotAtEpoch(epoch), index, slot),
    maxLength: committeesPerSlot * SLOTS_PER_EPOCH,
    resolved,
  };
}

function refuseUnknownEpoch(epoch: Epoch, stateEpoch: Epoch): void {
  if (epoch > stateEpoch + 1) {
    throw invalidParams(
      `The committees of epoch ${epoch} are not known yet: a state of epoch ${stateEpoch} determines those up to ` +
        `epoch ${stateEpoch + 1}.`,
    );
  }
  if (epoch + EPOCHS_PER_HISTORICAL_VECTOR < stateEpoch + MIN_SEED_LOOKAHEAD) {
    throw invalidParams(
      `The committees of epoch ${epoch} are too old for a state of epoch ${stateEpoch}, which no longer holds the ` +
        "randomness that chose them.",
    );
  }
}

async function shufflingAt(chain: ChainView, state: CachedBeaconStateAllForks, epoch: Epoch): Promise<EpochShuffling> {
  const known = state.epochCtx.getShufflingAtEpochOrNull(epoch);
  if (known) return known;
  // The seed comes from the mix of this epoch (beacon-chain.md, get_seed), whose place in the state is used again
  // after a full round.
  const mixEpoch = epoch - MIN_SEED_LOOKAHEAD - 1;
  if (mixEpoch + EPOCHS_PER_HISTORICAL_VECTOR > computeEpochAtSlot(state.slot)) {
    return computeEpochShufflingAsync(state, getActiveValidatorIndices(state, epoch), epoch);
  }
  const stateThen = await chain.states.canonicalAtSlot(computeStartSlotAtEpoch(epoch));
  if (stateThen === null) throw notFound(`The node no longer has a state that knows the committees of epoch ${epoch}.`);
  return stateThen.epochCtx.getShufflingAtEpoch(epoch);
}

function* committeeSlices(
  committees: readonly Uint32Array[][],
  firstSlot: Slot,
  index: CommitteeIndex | undefined,
  slot: Slot | undefined,
): Generator<CommitteeResponse[], void, undefined> {
  for (const [slotInEpoch, ofSlot] of committees.entries()) {
    const committeeSlot = firstSlot + slotInEpoch;
    if (slot !== undefined && slot !== committeeSlot) continue;
    const responses = ofSlot.map((committee, position) => ({
      index: position,
      slot: committeeSlot,
      validators: Array.from(committee),
    }));
    yield index === undefined ? responses : responses.slice(index, index + 1);
  }
}
