import type { routes } from "@lodestar/api";
import {
  EPOCHS_PER_HISTORICAL_VECTOR,
  ForkName,
  MAX_COMMITTEES_PER_SLOT,
  MIN_SEED_LOOKAHEAD,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  computeSyncPeriodAtEpoch,
  type EpochShuffling,
} from "@lodestar/state-transition";
import type { CommitteeIndex, Epoch, Slot } from "@lodestar/types";
import { computeShuffling } from "../../../chain/shuffling/compute-shuffling.ts";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { SharedStream, writeToBuffer } from "../../../json/shared-stream.ts";
import type { ChainView } from "../../chain-view.ts";
import { type CallContext, defineOperation, get, optional } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { metaOf, type ResolvedState, resolveState } from "../../lookup.ts";
import { STATE_ID } from "../../params/common.ts";
import { epoch, slot, uint64 } from "../../params/scalars.ts";
import { requireForkAt } from "../../preconditions.ts";
import { list, object, shape } from "../../schemas.ts";

interface CommitteesQuery {
  stateId: routes.beacon.StateId;
  /** Defaults to the epoch of the state. */
  epoch?: Epoch;
  index?: CommitteeIndex;
  slot?: Slot;
}

/** Committees are streamed if they have more members in total. */
const MAX_BUFFERED_MEMBERS = 4096;

const EPOCH = optional(epoch, "Epoch. Default: the epoch of the state.");

const getEpochCommittees = defineOperation("beacon.getEpochCommittees", {
  number: 8,
  name: "get_v1_beacon_states_stateId_committees_epoch",
  aliases: ["get_v1_beacon_states_stateId_committees"],
  summary: "Beacon committees of an epoch, by slot and index.",
  params: {
    stateId: STATE_ID,
    epoch: EPOCH,
    index: optional(uint64, "Index of the committees."),
    slot: optional(slot, "Slot of the committees, which must be in the epoch."),
  },
  result: { name: "committees", schema: list(shape("Committee")) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/committees")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => ["head", String(chain.epoch), "0", String(chain.slot)] },
  async json({ chain }, query, codec, call) {
    const { committees, resolved } = await findCommittees(chain, query, call);
    return { body: bodyOf(committees), ...encodeMeta(codec.meta, metaOf(resolved)) };
  },
});

const getEpochSyncCommittees = defineOperation("beacon.getEpochSyncCommittees", {
  name: "get_v1_beacon_states_stateId_sync_committees",
  summary: "Members of a sync committee, in total and by subcommittee; from altair on.",
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
    // A state has two sync committees: one for its own period, and one for the next.
    const periodsAhead = computeSyncPeriodAtEpoch(epoch) - epochCtx.syncPeriod;
    if (epoch < config.ALTAIR_FORK_EPOCH) {
      throw invalidParams(`Epoch ${epoch} has no sync committee: altair begins at epoch ${config.ALTAIR_FORK_EPOCH}.`);
    }
    if (periodsAhead !== 0 && periodsAhead !== 1) {
      throw invalidParams(
        `The state of slot ${slot} does not have the sync committee of epoch ${epoch}, only those of its own period and the ` +
          "next.",
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

interface Committee {
  index: CommitteeIndex;
  slot: Slot;
  members: Uint32Array;
}

async function findCommittees(
  chain: ChainView,
  { stateId, epoch: givenEpoch, index, slot }: CommitteesQuery,
  call?: CallContext,
): Promise<{ committees: Committee[]; resolved: ResolvedState }> {
  if (index !== undefined && index >= MAX_COMMITTEES_PER_SLOT) {
    throw invalidParams(`No committee ${index}: a slot has at most ${MAX_COMMITTEES_PER_SLOT} committees.`);
  }
  const resolved = await resolveState(chain, stateId, call);
  const stateEpoch = computeEpochAtSlot(resolved.state.slot);
  const epoch = givenEpoch ?? stateEpoch;
  requireKnownEpoch(epoch, stateEpoch);
  if (slot !== undefined && computeEpochAtSlot(slot) !== epoch) {
    throw invalidParams(`Slot ${slot} is not in the requested epoch ${epoch}.`);
  }
  const shuffling = await shufflingAt(chain, resolved.state, epoch, call);
  const firstSlot = computeStartSlotAtEpoch(epoch);
  const committees = shuffling.committees.flatMap((ofSlot, slotInEpoch) =>
    ofSlot.map((members, position) => ({ index: position, slot: firstSlot + slotInEpoch, members })),
  );
  const isSelected = (committee: Committee) =>
    (slot === undefined || committee.slot === slot) && (index === undefined || committee.index === index);
  return { committees: committees.filter(isSelected), resolved };
}

function bodyOf(selected: readonly Committee[]): Buffer | SharedStream {
  const count = selected.reduce((sum, { members }) => sum + members.length, 0);
  const all = new Uint32Array(new SharedArrayBuffer(count * Uint32Array.BYTES_PER_ELEMENT));
  let at = 0;
  const committees = selected.map(({ index, slot, members }) => {
    all.set(members, at);
    at += members.length;
    return { index, slot, length: members.length };
  });
  const descriptor = { writer: "committees", input: { committees, members: all } } as const;
  return count <= MAX_BUFFERED_MEMBERS ? writeToBuffer(descriptor) : SharedStream.of(descriptor);
}

function requireKnownEpoch(epoch: Epoch, stateEpoch: Epoch): void {
  if (epoch > stateEpoch + 1) {
    throw invalidParams(
      `The committees of epoch ${epoch} are not known yet: a state of epoch ${stateEpoch} determines those up to epoch ` +
        `${stateEpoch + 1}.`,
    );
  }
  if (epoch + EPOCHS_PER_HISTORICAL_VECTOR < stateEpoch + MIN_SEED_LOOKAHEAD) {
    throw invalidParams(
      `The committees of epoch ${epoch} are too old for a state of epoch ${stateEpoch}, which no longer has their RANDAO mix.`,
    );
  }
}

async function shufflingAt(
  chain: ChainView,
  state: CachedBeaconStateAllForks,
  epoch: Epoch,
  call: CallContext | undefined,
): Promise<EpochShuffling> {
  const shuffling = state.epochCtx.getShufflingAtEpochOrNull(epoch);
  if (shuffling) return shuffling;
  // Epoch of the mix for the seed (phase0/beacon-chain.md, get_seed). The state keeps the mixes in a ring buffer.
  const mixEpoch = epoch - MIN_SEED_LOOKAHEAD - 1;
  if (mixEpoch + EPOCHS_PER_HISTORICAL_VECTOR > computeEpochAtSlot(state.slot)) {
    return computeShuffling(state, epoch, call?.signal);
  }
  const stateThen = await chain.states.canonicalAtSlot(computeStartSlotAtEpoch(epoch));
  if (stateThen === null) throw notFound(`The node has no state with the committees of epoch ${epoch}.`);
  return stateThen.epochCtx.getShufflingAtEpoch(epoch);
}
