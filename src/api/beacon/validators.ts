import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
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
import { notFound } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { type ResolvedState, resolveState } from "../identifiers.ts";
import { indexInRegistry, indicesInRegistry, REGISTRY_SLICE, registrySlices } from "./registry.ts";
import { metaOf } from "./states.ts";

type ValidatorResponse = routes.beacon.state.ValidatorResponse;
type ValidatorBalance = routes.beacon.state.ValidatorBalance;

export interface BalancesQuery {
  stateId: routes.beacon.StateId;
  /** Those that the state does not have are left out; none given means all validators. */
  validatorIds?: routes.beacon.state.ValidatorId[];
}

export interface ValidatorsQuery extends BalancesQuery {
  /** A group stands for all statuses in it; none given means any status. */
  statuses?: (ValidatorStatus | GeneralValidatorStatus)[];
}

export type ValidatorsApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  | "getStateValidator"
  | "getStateValidators"
  | "postStateValidators"
  | "getStateValidatorBalances"
  | "postStateValidatorBalances"
>;

/** A list about validators in slices, for answers that are too large to be held at once. */
export interface SlicedList<Item> {
  slices: Iterable<Item[]>;
  /** The list can have no more items. */
  maxLength: number;
  resolved: ResolvedState;
}

export function createValidatorsApi(chain: ChainView): ValidatorsApi {
  const getValidators = async (query: ValidatorsQuery) => wholeList(await listValidators(chain, query));
  const getBalances = async (query: BalancesQuery) => wholeList(await listBalances(chain, query));
  return {
    async getStateValidator(query) {
      const { resolved, index } = await findValidator(chain, query);
      return { data: validatorAt(resolved.state, index), meta: metaOf(resolved) };
    },
    getStateValidators: getValidators,
    postStateValidators: getValidators,
    getStateValidatorBalances: getBalances,
    postStateValidatorBalances: getBalances,
  };
}

export interface ValidatorQuery {
  stateId: routes.beacon.StateId;
  validatorId: routes.beacon.state.ValidatorId;
}

export async function findValidator(
  chain: ChainView,
  { stateId, validatorId }: ValidatorQuery,
): Promise<{ resolved: ResolvedState; index: ValidatorIndex }> {
  const resolved = await resolveState(chain, stateId);
  const { state } = resolved;
  const index = indexInRegistry(state, validatorId);
  if (index === undefined) {
    throw notFound(`The state of slot ${state.slot} has no validator ${describeValidator(validatorId)}.`);
  }
  return { resolved, index };
}

export async function listValidators(
  chain: ChainView,
  { stateId, validatorIds = [], statuses = [] }: ValidatorsQuery,
): Promise<SlicedList<ValidatorResponse>> {
  const resolved = await resolveState(chain, stateId);
  const { state } = resolved;
  const responses = validatorIds.length === 0 ? allResponses(state) : responsesOf(state, validatorIds);
  const wanted = new Set<string>(statuses);
  return {
    slices: wanted.size === 0 ? responses : withStatus(responses, wanted),
    maxLength: validatorIds.length === 0 ? state.validators.length : validatorIds.length,
    resolved,
  };
}

export async function listBalances(
  chain: ChainView,
  { stateId, validatorIds = [] }: BalancesQuery,
): Promise<SlicedList<ValidatorBalance>> {
  const resolved = await resolveState(chain, stateId);
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

function wholeList<Item>({ slices, resolved }: SlicedList<Item>) {
  return { data: Array.from(slices).flat(), meta: metaOf(resolved) };
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

export function validatorAt(state: CachedBeaconStateAllForks, index: ValidatorIndex): ValidatorResponse {
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

function describeValidator(id: string | number): string {
  return typeof id === "string" || Number.isFinite(id) ? String(id) : `beyond ${Number.MAX_SAFE_INTEGER}`;
}
