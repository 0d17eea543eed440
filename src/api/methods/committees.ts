import { routes } from "@lodestar/api";
import {
  EPOCHS_PER_HISTORICAL_VECTOR,
  ForkName,
  MAX_COMMITTEES_PER_SLOT,
  MIN_SEED_LOOKAHEAD,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeEpochShufflingAsync,
  computeStartSlotAtEpoch,
  computeSyncPeriodAtEpoch,
  type EpochShuffling,
  getActiveValidatorIndices,
} from "@lodestar/state-transition";
import type { CommitteeIndex, Epoch, Slot } from "@lodestar/types";
import { invalidParams, notFound } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { type CallContext, defineOperation, get, optional } from "../definition.ts";
import { metaOf, resolveState } from "../lookup.ts";
import { STATE_ID } from "../params/common.ts";
import { epoch, slot, uint64 } from "../params/scalars.ts";
import { requireForkAt } from "../preconditions.ts";
import { list, object, shape } from "../schemas.ts";
import { type SlicedList, wholeList, writeList } from "../sliced-list.ts";

type CommitteeResponse = routes.beacon.state.EpochCommitteeResponse;

interface CommitteesQuery {
  stateId: routes.beacon.StateId;
  /** By default the state's. */
  epoch?: Epoch;
  index?: CommitteeIndex;
  slot?: Slot;
}

const EPOCH = optional(epoch, "By default the epoch of the state.");

const getEpochCommittees = defineOperation("beacon.getEpochCommittees", {
  number: 8,
  name: "get_v1_beacon_states_stateId_committees_epoch",
  aliases: ["get_v1_beacon_states_stateId_committees"],
  summary: "The committees of an epoch, by slot and index, with their validators in order.",
  params: {
    stateId: STATE_ID,
    epoch: EPOCH,
    index: optional(uint64, "Only the committees with this index."),
    slot: optional(slot, "Only the committees of this slot, which must be in the epoch."),
  },
  result: { name: "committees", schema: list(shape("Committee")) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/committees")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => ["head", String(chain.epoch), "0", String(chain.slot)] },
  handler: async ({ chain }, query, call) => wholeList(await listCommittees(chain, query, call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listCommittees(chain, query, call), committeeJson, codec.meta),
});

const getEpochSyncCommittees = defineOperation("beacon.getEpochSyncCommittees", {
  name: "get_v1_beacon_states_stateId_sync_committees",
  summary: "The members of a sync committee in order, together and by subcommittee; from altair on.",
  params: { stateId: STATE_ID, epoch: EPOCH },
  result: {
    name: "sync_committee",
    schema: object({ validators: list(shape("Uint64")), validator_aggregates: list(list(shape("Uint64"))) }),
  },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/sync_committees")],
  cost: "state",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => ["head", String(chain.epoch)] },
  async handler({ chain }, { stateId, epoch: givenEpoch }, call) {
    const { config } = chain;
    const resolved = await resolveState(chain, stateId, call);
    const { slot, epochCtx } = resolved.state;
    requireForkAt(config, ForkName.altair, slot, "Sync committees");
    const epoch = givenEpoch ?? computeEpochAtSlot(slot);
    // A state holds two committees: that of its own period and the next one.
    const periodsAhead = computeSyncPeriodAtEpoch(epoch) - epochCtx.syncPeriod;
    if (epoch < config.ALTAIR_FORK_EPOCH || (periodsAhead !== 0 && periodsAhead !== 1)) {
      throw invalidParams(
        `A state of slot ${slot} does not hold the sync committee of epoch ${epoch}, but only those of its own ` +
          "period and of the next one.",
      );
    }
    const validators = Array.from(epochCtx.getIndexedSyncCommitteeAtEpoch(epoch).validatorIndices);
    const validatorAggregates: number[][] = [];
    for (let start = 0; start < validators.length; start += SYNC_COMMITTEE_SUBNET_SIZE) {
      validatorAggregates.push(validators.slice(start, start + SYNC_COMMITTEE_SUBNET_SIZE));
    }
    return { data: { validators, validatorAggregates }, meta: metaOf(resolved) };
  },
});

export const committeeMethods = [getEpochCommittees, getEpochSyncCommittees] as const;

/** One slice for each slot. */
async function listCommittees(
  chain: ChainView,
  { stateId, epoch: givenEpoch, index, slot }: CommitteesQuery,
  call?: CallContext,
): Promise<SlicedList<CommitteeResponse>> {
  if (index !== undefined && index >= MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(`There is no committee ${index}: a slot has at most ${MAX_COMMITTEES_PER_SLOT} committees.`);
  }
  const resolved = await resolveState(chain, stateId, call);
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

function committeeJson(committee: CommitteeResponse): string {
  return JSON.stringify(routes.beacon.state.EpochCommitteeResponseType.toJson(committee));
}
