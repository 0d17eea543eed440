import type { routes } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch, RootHex, ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { committeePositions } from "../../../chain/shuffling/committee-positions.ts";
import { lastRootBefore } from "../../../chain/shuffling/dependent-root.ts";
import { invalidParams } from "../../../errors/failure.ts";
import { writeOrStream } from "../../../json/shared-stream.ts";
import { AttesterDutyRows } from "../../../json/writers/committee-writers.ts";
import type { ResponseCodec } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import { defineEncoded, defineOperation, get, post, required } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { type ValidatorId, validatorIds, validatorIndices } from "../../params/identifiers.ts";
import { epoch } from "../../params/scalars.ts";
import { requireSynced } from "../../preconditions.ts";
import { boolean, list, object, shape } from "../../schemas.ts";
import { requireKnownEpoch, stateForDuties, stateForSyncCommittee } from "./duty-state.ts";
import { livenessIn } from "./liveness.ts";

/** Number of validators between checks of the time slice. */
const VALIDATORS_PER_CHECK = 1024;

type AttesterDutiesCodec = ResponseCodec<unknown, { dependentRoot: RootHex; executionOptimistic: boolean }>;

interface DutiesRequest {
  epoch: Epoch;
  /** Indices and public keys. */
  indices: ValidatorId[];
}

const EPOCH = required(epoch, "Epoch of the duties, at most one after the current epoch.");

const ATTESTER_DUTIES = {
  summary: "Attester duties of validators in an epoch.",
  params: {
    epoch: EPOCH,
    indices: required(validatorIds, "Validator public keys or indices.", { name: "validators" }),
  },
  result: { name: "duties", schema: list(shape("AttesterDuty")) },
  failures: ["not-found", "unavailable"],
  cost: "duty",
  access: "read",
  async handler({ chain }: ApiContext, request: DutiesRequest) {
    const { state, shuffling, positions, meta } = await findAttesters(chain, request);
    const firstSlot = computeStartSlotAtEpoch(request.epoch);
    const data = positions.map(({ validatorIndex, committeeIndex, committeeLength, position, slotInEpoch }) => ({
      pubkey: pubkeyOf(state, validatorIndex),
      validatorIndex,
      committeeIndex,
      committeeLength,
      committeesAtSlot: shuffling.committeesPerSlot,
      validatorCommitteeIndex: position,
      slot: firstSlot + slotInEpoch,
    }));
    return { data, meta };
  },
  async json({ chain }: ApiContext, request: DutiesRequest, codec: AttesterDutiesCodec) {
    const { state, shuffling, positions, meta } = await findAttesters(chain, request);
    const duties = new AttesterDutyRows(positions.length);
    const slice = new TimeSlice();
    for (const [index, position] of positions.entries()) {
      duties.add(pubkeyOf(state, position.validatorIndex), position);
      if (index % VALIDATORS_PER_CHECK === 0) await slice.yieldIfDue();
    }
    const input = {
      firstSlot: computeStartSlotAtEpoch(request.epoch),
      committeesAtSlot: shuffling.committeesPerSlot,
      ...duties.columns,
    };
    const body = writeOrStream({ writer: "attesterDuties", input }, positions.length);
    return { body, ...encodeMeta(codec.meta, meta) };
  },
} as const;

const getAttesterDuties = defineEncoded({
  ...ATTESTER_DUTIES,
  number: 29,
  name: "get_v1_validator_duties_attester",
  example: { params: (chain) => [String(chain.epoch), [chain.pubkey(3), "4"]] },
  codec: (codecs) => codecs.validator.getAttesterDuties.resp,
});

const postAttesterDuties = defineOperation("validator.getAttesterDuties", {
  ...ATTESTER_DUTIES,
  number: 30,
  name: "post_v1_validator_duties_attester",
  aliases: ["post_v1_validator_duties_attester_epoch"],
  rest: [post("/eth/v1/validator/duties/attester/{epoch}")],
  example: { params: (chain) => [String(chain.epoch), ["3", "4", "5"]] },
});

const PROPOSER_DUTIES = { name: "duties", schema: list(shape("ProposerDuty")) };

const getProposerDuties = defineOperation("validator.getProposerDuties", {
  number: 31,
  name: "get_v1_validator_duties_proposer",
  aliases: ["get_v1_validator_duties_proposer_epoch"],
  summary: "Proposer duties of an epoch.",
  params: { epoch: EPOCH },
  result: PROPOSER_DUTIES,
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v1/validator/duties/proposer/{epoch}")],
  cost: "duty",
  access: "read",
  example: { params: (chain) => [String(chain.epoch)] },
  handler: ({ chain }, { epoch }) => proposerDuties(chain, epoch, epoch),
});

/**
 * From fulu on, proposers are known an epoch ahead. The second version returns the dependent root for this case in all
 * forks.
 */
const getProposerDutiesV2 = defineOperation("validator.getProposerDutiesV2", {
  name: "get_v2_validator_duties_proposer_epoch",
  aliases: ["get_v2_validator_duties_proposer"],
  summary: "Proposer duties of an epoch, with the dependent root of one epoch earlier.",
  params: { epoch: EPOCH },
  result: PROPOSER_DUTIES,
  failures: ["not-found", "unavailable"],
  rest: [get("/eth/v2/validator/duties/proposer/{epoch}")],
  cost: "duty",
  access: "read",
  example: { params: (chain) => [String(chain.epoch)] },
  handler: ({ chain }, { epoch }) => proposerDuties(chain, epoch, epoch - 1),
});

const getSyncCommitteeDuties = defineOperation("validator.getSyncCommitteeDuties", {
  name: "post_v1_validator_duties_sync_epoch",
  aliases: ["post_v1_validator_duties_sync"],
  summary: "Sync committee duties of validators in an epoch.",
  params: {
    epoch: required(epoch, "Epoch of the duties, at most in the next sync committee period."),
    indices: required(validatorIds, "Validator indices or public keys.", { name: "validator_indices" }),
  },
  result: {
    name: "duties",
    schema: list(
      object({
        pubkey: shape("Pubkey"),
        validator_index: shape("Uint64"),
        validator_sync_committee_indices: list(shape("Uint64")),
      }),
    ),
  },
  failures: ["not-found", "unavailable"],
  rest: [post("/eth/v1/validator/duties/sync/{epoch}")],
  cost: "duty",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => [String(chain.epoch), ["0", "3"]] },
  async handler({ chain }, { epoch, indices }) {
    requireSynced(chain);
    const state = await stateForSyncCommittee(chain, epoch);
    const { validatorIndexMap } = state.epochCtx.getIndexedSyncCommitteeAtEpoch(epoch);
    const data: routes.validator.SyncDuty[] = [];
    for (const validatorIndex of await indicesOf(state, indices)) {
      const positions = validatorIndexMap.get(validatorIndex);
      if (!positions) continue;
      data.push({
        pubkey: pubkeyOf(state, validatorIndex),
        validatorIndex,
        validatorSyncCommitteeIndices: positions,
      });
    }
    return { data, meta: { executionOptimistic: chain.status.isOptimistic } };
  },
});

const getLiveness = defineOperation("validator.getLiveness", {
  name: "post_v1_validator_liveness_epoch",
  aliases: ["post_v1_validator_liveness"],
  summary: "Liveness of validators in an epoch, as observed by the node.",
  params: {
    epoch: required(epoch, "The current or the previous epoch."),
    indices: required(validatorIndices, "Validator indices.", { name: "validator_indices" }),
  },
  result: { name: "liveness", schema: list(object({ index: shape("Uint64"), is_live: boolean })) },
  failures: ["unavailable"],
  rest: [post("/eth/v1/validator/liveness/{epoch}")],
  cost: "cheap",
  access: "read",
  example: { params: (chain) => [String(chain.epoch), ["3", "4"]] },
  handler: async ({ chain }, request) => ({ data: await findLiveness(chain, request) }),
});

export const dutyMethods = [
  getAttesterDuties,
  postAttesterDuties,
  getProposerDuties,
  getSyncCommitteeDuties,
  getProposerDutiesV2,
  getLiveness,
] as const;

/** Returns the proposer duties. The dependent root is the root of the last block before the epoch `dependsOn`. */
async function proposerDuties(chain: BeaconChain, epoch: Epoch, dependsOn: Epoch) {
  requireSynced(chain);
  requireKnownEpoch(chain, epoch);
  const state = await stateForDuties(chain, epoch);
  const startSlot = computeStartSlotAtEpoch(epoch);
  const proposers =
    computeEpochAtSlot(state.slot) === epoch
      ? state.epochCtx.getBeaconProposers()
      : state.epochCtx.getBeaconProposersNextEpoch();
  return {
    data: proposers.map((validatorIndex, i) => ({
      pubkey: pubkeyOf(state, validatorIndex),
      validatorIndex,
      slot: startSlot + i,
    })),
    meta: { dependentRoot: lastRootBefore(dependsOn, state), executionOptimistic: chain.status.isOptimistic },
  };
}

/** Finds the slot, the committee and the position in it for each attester. Validators without a duty are omitted. */
async function findAttesters(chain: BeaconChain, { epoch, indices }: DutiesRequest) {
  requireSynced(chain);
  requireKnownEpoch(chain, epoch);
  const state = await stateForDuties(chain, epoch);
  const meta = { dependentRoot: lastRootBefore(epoch - 1, state), executionOptimistic: chain.status.isOptimistic };
  const shuffling = state.epochCtx.getShufflingAtEpoch(epoch);
  const positions = await committeePositions(shuffling, await indicesOf(state, indices));
  return { state, shuffling, positions, meta };
}

async function findLiveness(
  chain: BeaconChain,
  { epoch, indices }: { epoch: Epoch; indices: ValidatorIndex[] },
): Promise<routes.validator.LivenessResponseData[]> {
  requireSynced(chain);
  const { currentEpoch } = chain.clock;
  if (epoch > currentEpoch || epoch < currentEpoch - 1) {
    throw invalidParams(
      `Liveness is only known for the current epoch ${currentEpoch} and the previous one, but epoch ${epoch} was given.`,
    );
  }
  const { length } = chain.headState.validators;
  const unknown = indices.find((index) => index >= length);
  if (unknown !== undefined) throw invalidParams(`No validator has the index ${unknown}.`);
  const isLive = livenessIn(chain, epoch);
  const liveness = [];
  const slice = new TimeSlice();
  for (const [position, index] of indices.entries()) {
    liveness.push({ index, isLive: isLive(index) });
    if (position % VALIDATORS_PER_CHECK === 0) await slice.yieldIfDue();
  }
  return liveness;
}

/** Returns unique indices. Unknown keys are left out. */
async function indicesOf(
  { epochCtx }: CachedBeaconStateAllForks,
  validators: readonly ValidatorId[],
): Promise<Set<ValidatorIndex>> {
  const indices = new Set<ValidatorIndex>();
  const slice = new TimeSlice();
  for (const [position, id] of validators.entries()) {
    const index = typeof id === "string" ? epochCtx.getValidatorIndex(fromHex(id)) : id;
    if (index !== null) indices.add(index);
    if (position % VALIDATORS_PER_CHECK === 0) await slice.yieldIfDue();
  }
  return indices;
}

function pubkeyOf(state: CachedBeaconStateAllForks, validator: ValidatorIndex): Uint8Array {
  return state.validators.getReadonly(validator).pubkey;
}
