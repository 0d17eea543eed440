import type { routes } from "@lodestar/api";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { GeneralValidatorStatus, ValidatorStatus } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { notFound } from "../../../errors/failure.ts";
import { type SharedStream, type StreamDescriptor, writeElement, writeOrStream } from "../../../json/shared-stream.ts";
import { statusSet } from "../../../json/validator-status.ts";
import type { Chunks } from "../../../json/writers/registry-chunks.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import type { MetaCodec } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import { type CallContext, defineOperation, get, optional, post, required } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { metaOf, type ResolvedState, resolveState, type StateMeta } from "../../lookup.ts";
import { STATE_ID, VALIDATOR_IDS } from "../../params/common.ts";
import { validatorId, validatorStatus } from "../../params/identifiers.ts";
import { registryFilter } from "../../params/registry-filter.ts";
import { uniqueArrayOf } from "../../params/scalars.ts";
import { snapshotsOf } from "../../registry-snapshots.ts";
import { list, object, shape } from "../../schemas.ts";
import { balancesAt, indexInRegistry, indicesInRegistry, validatorsAt } from "./registry.ts";

interface BalancesQuery {
  stateId: routes.beacon.StateId;
  /** Those that the state does not have are left out; none given means all validators. */
  validatorIds?: routes.beacon.state.ValidatorId[];
}

interface ValidatorsQuery extends BalancesQuery {
  /** A group stands for all statuses in it; none given means any status. */
  statuses?: (ValidatorStatus | GeneralValidatorStatus)[];
}

/** The standard's own limit is one for URLs; this one keeps a call from costing more than an answer is worth. */
const MAX_VALIDATOR_IDS = 16_384;
const ID = optional(
  uniqueArrayOf(validatorId, { noun: "validator ids", maxItems: MAX_VALIDATOR_IDS }),
  "Only these validators, each by index or public key; by default all.",
  { name: "id" },
);
const IDS = { ...VALIDATOR_IDS, name: "ids" };

const VALIDATORS = { name: "validators", schema: list(shape("StateValidator")) };
const BALANCES = { name: "balances", schema: list(object({ index: shape("Uint64"), balance: shape("Uint64") })) };

/** Returns the encoders of a list of validators. `describe` returns the stream of a selection. */
function listEncoders(describe: (selection: ValidatorSelection, format: "json" | "ssz") => Promise<StreamDescriptor>) {
  const respond = async (chain: BeaconChain, query: BalancesQuery, format: "json" | "ssz", call?: CallContext) => {
    const selection = await chooseValidators(chain, query, call);
    return { data: bodyOf(selection, await describe(selection, format)), meta: metaOf(selection.resolved) };
  };
  return {
    async json({ chain }: ApiContext, query: BalancesQuery, codec: { meta: MetaCodec<StateMeta> }, call?: CallContext) {
      const { data, meta } = await respond(chain, query, "json", call);
      return { body: data, ...encodeMeta(codec.meta, meta) };
    },
    ssz: ({ chain }: ApiContext, query: BalancesQuery, call?: CallContext) => respond(chain, query, "ssz", call),
  };
}

const BALANCE_ENCODERS = listEncoders(async ({ indices, balances }, format) => ({
  writer: format === "ssz" ? "balancesSsz" : "balances",
  input: { indices, balanceChunks: await balances() },
}));

const getStateValidators = defineOperation("beacon.getStateValidators", {
  number: 5,
  name: "get_v1_beacon_states_stateId_validators",
  summary: "Validators of a state with their balances and statuses, by ascending index.",
  params: {
    stateId: STATE_ID,
    validatorIds: ID,
    statuses: optional(
      uniqueArrayOf(validatorStatus, { noun: "statuses" }),
      "Only validators with one of these statuses or of one of these groups; by default all.",
      { name: "status" },
    ),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => ["head", ["2", chain.pubkey(5)], ["active", "pending_queued"]] },
  json: ({ chain }, query, codec, call) => writeValidators(chain, query, codec.meta, call),
});

const postStateValidators = defineOperation("beacon.postStateValidators", {
  name: "post_v1_beacon_states_stateId_validators",
  summary: "Validators of a state like get_v1_beacon_states_stateId_validators, for as many ids as one likes.",
  params: {
    stateId: STATE_ID,
    filter: required(
      registryFilter(validatorStatus),
      "Only validators with these ids and statuses; a list left out means all.",
      { defaultBody: {} },
    ),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: ["head", { ids: ["2", "5"], statuses: ["active"] }] },
  json: ({ chain }, query, codec, call) => writeValidators(chain, filtered(query), codec.meta, call),
});

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
  elementOf: "get_v1_beacon_states_stateId_validators",
  example: { params: (chain) => ["head", chain.pubkey(2)] },
  async json({ chain }, { stateId, validatorId }, codec, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    const index = indexInRegistry(state, validatorId);
    if (index === undefined) throw notFound(`The state of slot ${state.slot} has no validator ${validatorId}.`);
    const list = await describeValidators(selectionOf(resolved, Uint32Array.of(index)));
    return { body: writeElement(list, 0)!, ...encodeMeta(codec.meta, metaOf(resolved)) };
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
  dependsOn: "head",
  example: { params: ["head", ["0", "1", "2"]] },
  ...BALANCE_ENCODERS,
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
  dependsOn: "head",
  example: { params: (chain) => ["head", ["1", chain.pubkey(2)]] },
  ...BALANCE_ENCODERS,
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
  dependsOn: "head",
  example: { params: ["head", ["0", "1"]] },
  ...listEncoders(async ({ indices, validators }, format) => ({
    writer: format === "ssz" ? "identitiesSsz" : "identities",
    input: { indices, validatorChunks: await validators() },
  })),
});

export const validatorMethods = [
  getStateValidators,
  getStateValidator,
  getStateValidatorBalances,
  postStateValidators,
  postStateValidatorBalances,
  postStateValidatorIdentities,
] as const;

/** Validators that are asked for, and where their bytes come from. */
interface ValidatorSelection {
  resolved: ResolvedState;
  /** Undefined when it is all of the state. */
  indices: Uint32Array | undefined;
  validators(): Promise<Chunks>;
  balances(): Promise<Chunks>;
}

async function chooseValidators(
  chain: BeaconChain,
  { stateId, validatorIds = [] }: BalancesQuery,
  call?: CallContext,
): Promise<ValidatorSelection> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  if (validatorIds.length > 0) return selectionOf(resolved, await indicesInRegistry(state, validatorIds));
  const snapshots = snapshotsOf(chain);
  return {
    resolved,
    indices: undefined,
    validators: () => snapshots.validators(state, call?.signal),
    balances: () => snapshots.balances(state, call?.signal),
  };
}

/** A few are read from the state itself, whatever its size. */
function selectionOf(resolved: ResolvedState, indices: Uint32Array): ValidatorSelection {
  const { state } = resolved;
  return {
    resolved,
    indices,
    validators: () => validatorsAt(state, indices),
    balances: () => balancesAt(state, indices),
  };
}

async function writeValidators(
  chain: BeaconChain,
  query: ValidatorsQuery,
  meta: MetaCodec<StateMeta>,
  call?: CallContext,
): Promise<MethodResponse> {
  const choice = await chooseValidators(chain, query, call);
  const body = bodyOf(choice, await describeValidators(choice, query.statuses));
  return { body, ...encodeMeta(meta, metaOf(choice.resolved)) };
}

async function describeValidators(
  { resolved, indices, validators, balances }: ValidatorSelection,
  statuses: ValidatorsQuery["statuses"] = [],
): Promise<StreamDescriptor> {
  const input = {
    indices,
    validatorChunks: await validators(),
    balanceChunks: await balances(),
    epoch: computeEpochAtSlot(resolved.state.slot),
    statuses: statusSet(statuses),
  };
  return { writer: "validators", input };
}

function bodyOf({ resolved, indices }: ValidatorSelection, descriptor: StreamDescriptor): Buffer | SharedStream {
  return writeOrStream(descriptor, indices?.length ?? resolved.state.validators.length);
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
