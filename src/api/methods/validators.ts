import { routes } from "@lodestar/api";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import {
  type Epoch,
  type GeneralValidatorStatus,
  getValidatorStatus,
  mapToGeneralStatus,
  type phase0,
  type ValidatorIndex,
  type ValidatorStatus,
} from "@lodestar/types";
import { LruMap } from "../../chain/lru-map.ts";
import { notFound } from "../../failure.ts";
import { balanceJson, validatorJson } from "../../json/validator-json.ts";
import type { ChainView } from "../chain-view.ts";
import { type CallContext, defineOperation, get, optional, post, required } from "../definition.ts";
import { besideData } from "../encoding.ts";
import { metaOf, type ResolvedState, resolveState } from "../lookup.ts";
import { perState } from "../memoize.ts";
import { STATE_ID, VALIDATOR_IDS } from "../params/common.ts";
import { validatorId, validatorStatus } from "../params/identifiers.ts";
import { registryFilter } from "../params/registry-filter.ts";
import { arrayOf } from "../params/scalars.ts";
import { list, object, shape } from "../schemas.ts";
import { type SlicedList, wholeList, writeList } from "../sliced-list.ts";
import { indexInRegistry, indicesInRegistry, REGISTRY_SLICE, registrySlices } from "./registry.ts";

type ValidatorResponse = routes.beacon.state.ValidatorResponse;
type ValidatorBalance = routes.beacon.state.ValidatorBalance;
type ValidatorIdentity = routes.beacon.state.ValidatorIdentities[number];

interface BalancesQuery {
  stateId: routes.beacon.StateId;
  /** Those that the state does not have are left out; none given means all validators. */
  validatorIds?: routes.beacon.state.ValidatorId[];
}

interface ValidatorsQuery extends BalancesQuery {
  /** A group stands for all statuses in it; none given means any status. */
  statuses?: (ValidatorStatus | GeneralValidatorStatus)[];
}

interface ValidatorQuery {
  stateId: routes.beacon.StateId;
  validatorId: routes.beacon.state.ValidatorId;
}

/** The standard's own limit is one for URLs; this one keeps a call from costing more than an answer is worth. */
const MAX_VALIDATOR_IDS = 16_384;
const ID = optional(
  arrayOf(validatorId, { noun: "validator ids", maxItems: MAX_VALIDATOR_IDS }),
  "Only these validators, each by index or public key; by default all.",
  { name: "id" },
);
const IDS = { ...VALIDATOR_IDS, name: "ids" };

const VALIDATORS = { name: "validators", schema: list(shape("StateValidator")) };
const BALANCES = { name: "balances", schema: list(object({ index: shape("Uint64"), balance: shape("Uint64") })) };

const getStateValidators = defineOperation("beacon.getStateValidators", {
  number: 5,
  name: "get_v1_beacon_states_stateId_validators",
  summary: "Validators of a state with their balances and statuses, by ascending index.",
  params: {
    stateId: STATE_ID,
    validatorIds: ID,
    statuses: optional(
      arrayOf(validatorStatus, { noun: "statuses" }),
      "Only validators with one of these statuses or of one of these groups; by default all.",
      { name: "status" },
    ),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => ["head", ["2", chain.pubkey(5)], ["active", "pending_queued"]] },
  handler: async ({ chain }, query, call) => wholeList(await listValidators(chain, query, call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listValidators(chain, query, call), validatorJson, codec.meta),
});

const postStateValidators = defineOperation("beacon.postStateValidators", {
  name: "post_v1_beacon_states_stateId_validators",
  summary: "Validators of a state like get_v1_beacon_states_stateId_validators, for as many ids as one likes.",
  params: {
    stateId: STATE_ID,
    filter: required(
      registryFilter(validatorStatus),
      "Only validators with these ids and statuses; a list left out means all.",
      { whenNoBody: {} },
    ),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  example: { params: ["head", { ids: ["2", "5"], statuses: ["active"] }] },
  handler: async ({ chain }, query, call) => wholeList(await listValidators(chain, filtered(query), call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listValidators(chain, filtered(query), call), validatorJson, codec.meta),
});

/** Of each state, the encoded validators that were asked for one by one. */
const MAX_KEPT_VALIDATORS = 256;
const validatorBodies = perState(() => new LruMap<ValidatorIndex, Buffer>(MAX_KEPT_VALIDATORS));

const getStateValidator = defineOperation("beacon.getStateValidator", {
  number: 6,
  name: "get_v1_beacon_states_stateId_validators_validatorId",
  summary: "A validator of a state with its balance and status.",
  params: { stateId: STATE_ID, validatorId: required(validatorId, "Which validator: an index or a public key.") },
  result: { name: "validator", schema: shape("StateValidator") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validators/{validator_id}")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => ["head", chain.pubkey(2)] },
  async handler({ chain }, query, call) {
    const { resolved, index } = await findValidator(chain, query, call);
    return { data: validatorAt(resolved.state, index), meta: metaOf(resolved) };
  },
  async json({ chain }, query, codec, call) {
    const { resolved, index } = await findValidator(chain, query, call);
    const kept = validatorBodies(resolved.state);
    let body = kept.get(index);
    if (body === undefined) {
      body = Buffer.from(validatorJson(validatorAt(resolved.state, index)));
      kept.set(index, body);
    }
    return { body, ...besideData(codec.meta, metaOf(resolved)) };
  },
});

const getStateValidatorBalances = defineOperation("beacon.getStateValidatorBalances", {
  number: 7,
  name: "get_v1_beacon_states_stateId_validator_balances",
  summary: "Balances of the validators of a state, by ascending index.",
  params: { stateId: STATE_ID, validatorIds: ID },
  result: BALANCES,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validator_balances", { ssz: "answer" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head", ["0", "1", "2"]] },
  handler: async ({ chain }, query, call) => wholeList(await listBalances(chain, query, call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listBalances(chain, query, call), balanceJson, codec.meta),
});

const postStateValidatorBalances = defineOperation("beacon.postStateValidatorBalances", {
  name: "post_v1_beacon_states_stateId_validator_balances",
  summary: "Balances like get_v1_beacon_states_stateId_validator_balances, for as many ids as one likes.",
  params: { stateId: STATE_ID, validatorIds: IDS },
  result: BALANCES,
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validator_balances", { ssz: "answer" })],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => ["head", ["1", chain.pubkey(2)]] },
  handler: async ({ chain }, query, call) => wholeList(await listBalances(chain, query, call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listBalances(chain, query, call), balanceJson, codec.meta),
});

const postStateValidatorIdentities = defineOperation("beacon.postStateValidatorIdentities", {
  name: "post_v1_beacon_states_stateId_validator_identities",
  summary: "Index, public key and activation epoch of the validators of a state, by ascending index.",
  params: { stateId: STATE_ID, validatorIds: IDS },
  result: {
    name: "identities",
    schema: list(object({ index: shape("Uint64"), pubkey: shape("Pubkey"), activation_epoch: shape("Uint64") })),
  },
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validator_identities", { ssz: "answer" })],
  cost: "heavy",
  access: "read",
  example: { params: ["head", ["0", "1"]] },
  handler: async ({ chain }, query, call) => wholeList(await listIdentities(chain, query, call)),
  json: async ({ chain }, query, codec, call) =>
    writeList(await listIdentities(chain, query, call), identityJson, codec.meta),
});

export const validatorMethods = [
  getStateValidators,
  getStateValidator,
  getStateValidatorBalances,
  postStateValidators,
  postStateValidatorBalances,
  postStateValidatorIdentities,
] as const;

async function findValidator(
  chain: ChainView,
  { stateId, validatorId }: ValidatorQuery,
  call?: CallContext,
): Promise<{ resolved: ResolvedState; index: ValidatorIndex }> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  const index = indexInRegistry(state, validatorId);
  if (index === undefined) {
    throw notFound(`The state of slot ${state.slot} has no validator ${validatorId}.`);
  }
  return { resolved, index };
}

async function listValidators(
  chain: ChainView,
  { stateId, validatorIds = [], statuses = [] }: ValidatorsQuery,
  call?: CallContext,
): Promise<SlicedList<ValidatorResponse>> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  const responses = validatorIds.length === 0 ? allResponses(state) : responsesOf(state, validatorIds);
  const wanted = new Set<string>(statuses);
  return {
    slices: wanted.size === 0 ? responses : withStatus(responses, wanted),
    maxLength: validatorIds.length === 0 ? state.validators.length : validatorIds.length,
    resolved,
  };
}

async function listBalances(
  chain: ChainView,
  { stateId, validatorIds = [] }: BalancesQuery,
  call?: CallContext,
): Promise<SlicedList<ValidatorBalance>> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  if (validatorIds.length === 0) {
    return { slices: allBalances(state), maxLength: state.validators.length, resolved };
  }
  const balances = indicesInRegistry(state, validatorIds).map((index) => ({
    index,
    balance: state.balances.get(index),
  }));
  return { slices: [balances], maxLength: balances.length, resolved };
}

function* allResponses(state: CachedBeaconStateAllForks): Generator<ValidatorResponse[], void, undefined> {
  const epoch = computeEpochAtSlot(state.slot);
  for (const { start, validators, balances } of registrySlices(state)) {
    yield validators.map((validator, position) => toResponse(start + position, validator, balances[position]!, epoch));
  }
}

function* allBalances(state: CachedBeaconStateAllForks): Generator<ValidatorBalance[], void, undefined> {
  for (const { start, balances } of registrySlices(state)) {
    yield balances.map((balance, position) => ({ index: start + position, balance }));
  }
}

function* responsesOf(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): Generator<ValidatorResponse[], void, undefined> {
  const indices = indicesInRegistry(state, ids);
  for (let start = 0; start < indices.length; start += REGISTRY_SLICE) {
    yield indices.slice(start, start + REGISTRY_SLICE).map((index) => validatorAt(state, index));
  }
}

function* withStatus(
  slices: Iterable<ValidatorResponse[]>,
  wanted: ReadonlySet<string>,
): Generator<ValidatorResponse[], void, undefined> {
  for (const slice of slices) {
    yield slice.filter(({ status }) => wanted.has(status) || wanted.has(mapToGeneralStatus(status)));
  }
}

function validatorAt(state: CachedBeaconStateAllForks, index: ValidatorIndex): ValidatorResponse {
  const validator = state.validators.getReadonly(index).toValue();
  return toResponse(index, validator, state.balances.get(index), computeEpochAtSlot(state.slot));
}

function toResponse(
  index: ValidatorIndex,
  validator: phase0.Validator,
  balance: number,
  epoch: Epoch,
): ValidatorResponse {
  return { index, balance, status: getValidatorStatus(validator, epoch), validator };
}

function filtered({
  stateId,
  filter,
}: {
  stateId: routes.beacon.StateId;
  filter: { ids?: routes.beacon.state.ValidatorId[]; statuses?: ValidatorsQuery["statuses"] };
}): ValidatorsQuery {
  return { stateId, validatorIds: filter.ids, statuses: filter.statuses };
}

/** What never changes about validators, and when they became active. */
async function listIdentities(
  chain: ChainView,
  { stateId, validatorIds = [] }: BalancesQuery,
  call?: CallContext,
): Promise<SlicedList<ValidatorIdentity>> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  const isOfAll = validatorIds.length === 0;
  return {
    slices: isOfAll ? allIdentities(state) : identitiesOf(state, validatorIds),
    maxLength: isOfAll ? state.validators.length : validatorIds.length,
    resolved,
  };
}

function* allIdentities(state: CachedBeaconStateAllForks): Generator<ValidatorIdentity[], void, undefined> {
  for (const { start, validators } of registrySlices(state)) {
    yield validators.map(({ pubkey, activationEpoch }, position) => ({
      index: start + position,
      pubkey,
      activationEpoch,
    }));
  }
}

function* identitiesOf(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): Generator<ValidatorIdentity[], void, undefined> {
  const indices = indicesInRegistry(state, ids);
  for (let start = 0; start < indices.length; start += REGISTRY_SLICE) {
    yield indices.slice(start, start + REGISTRY_SLICE).map((index) => {
      const { pubkey, activationEpoch } = state.validators.getReadonly(index);
      return { index, pubkey, activationEpoch };
    });
  }
}

function identityJson(identity: ValidatorIdentity): string {
  return JSON.stringify(routes.beacon.state.ValidatorIdentityType.toJson(identity));
}
